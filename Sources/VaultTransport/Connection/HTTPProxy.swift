import AsyncHTTPClient
public import VaultErrors

/// A proxy for all connections to hosts: `CONNECT` (RFC 9110, section 9.3.6), for http too, or SOCKS 5 (RFC 1928). The
/// proxy resolves the host names.
public struct HTTPProxy: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case http(Authorization?)
        case socks5
    }

    /// Credentials sent to an HTTP proxy as `Proxy-Authorization`, unencrypted.
    public enum Authorization: Hashable, Sendable {
        case basic(user: String, password: String)
        case bearer(token: String)
    }

    /// A name or an address, without brackets.
    public let host: String
    public let port: UInt16
    public let kind: Kind

    public init(host: String, port: UInt16, kind: Kind = .http(nil)) {
        (self.host, self.port, self.kind) = (host, port, kind)
    }

    /// Reads `http://HOST:PORT` or `socks5://HOST:PORT`.
    ///
    /// - Throws: `.usage` for anything else. A text with user information is not repeated, as it may hold a password.
    public init(_ text: String) throws(VaultError) {
        guard !text.contains("@") else {
            throw VaultError(
                .usage, "the URL has a user name or password", at: "proxy",
                remedy:
                    "use a local proxy that logs in by itself, or set the authorization in an app's code")
        }
        let (kind, rest): (Kind, Substring) =
            switch text.prefix(while: { $0 != ":" }).lowercased() {
            case "http": (.http(nil), text.dropFirst(4))
            case "socks5": (.socks5, text.dropFirst(6))
            default: (.http(nil), "")
            }
        guard let url = HTTPURL("http\(rest)"), let port = url.port, ["", "/"].contains(url.path),
            url.query == nil, !text.contains("#")
        else {
            throw VaultError(
                .usage, "not the URL of a proxy", at: text,
                remedy: "give http://HOST:PORT or socks5://HOST:PORT")
        }
        let isBracketed = url.host.hasPrefix("[")
        self.init(
            host: isBracketed ? String(url.host.dropFirst().dropLast()) : url.host, port: port, kind: kind)
    }

    /// Its name in errors.
    var place: String { "the proxy \(host):\(port)" }

    var configuration: HTTPClient.Configuration.Proxy {
        switch kind {
        case .http(let authorization):
            .server(host: host, port: Int(port), authorization: authorization?.header)
        case .socks5: .socksServer(host: host, port: Int(port))
        }
    }
}

extension HTTPProxy.Authorization {
    fileprivate var header: HTTPClient.Authorization {
        switch self {
        case .basic(let user, let password): .basic(username: user, password: password)
        case .bearer(let token): .bearer(tokens: token)
        }
    }
}

extension HTTPProxy.Authorization: CustomStringConvertible, CustomReflectable {
    public var description: String { "secret" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
