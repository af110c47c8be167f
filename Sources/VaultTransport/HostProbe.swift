public import VaultBase

/// Asks a host as a client does, and shows the answer as it was sent: for examining the host, not for reading a site.
public protocol HostProbe: Sendable {
    /// One GET request. Redirects are not followed.
    ///
    /// - Parameters:
    ///   - headers: beside those that every request has.
    ///   - limit: how many bytes of the body are read; the rest is left.
    /// - Throws: `.unreachable` without a connection, `.unavailable` for an answer that is not HTTP, `.usage` for a folder.
    func ask(
        _ location: SiteLocation, headers: [String: String], bodyUpTo limit: Int
    ) async throws(VaultError) -> HostAnswer

    /// What a new connection to the host shows, without a request. Throws as `ask` does.
    func connection(to location: SiteLocation) async throws(VaultError) -> HostConnection
}

/// A connection to a host, as it was agreed on.
public struct HostConnection: Sendable {
    /// Such as `TLS 1.3`; nil for http.
    public var tls: String?
    /// When the host's certificate expires, in seconds since 1970; nil for http.
    public var certificateEnd: Int64?
    /// Whether the host would speak HTTP/2 with clients that do.
    public var speaksHTTP2 = false

    public init() {}
}

/// The answer of a host.
public struct HostAnswer: Sendable {
    public let status: Int
    /// The first bytes of the body.
    public let body: [UInt8]
    /// Where it redirects clients to; nil where they don't follow.
    public let redirect: SiteLocation?
    private let headers: [String: String]

    /// - Parameter headers: of repeated ones the first.
    public init(
        status: Int, headers: [(name: String, value: String)], body: [UInt8], redirect: SiteLocation? = nil
    ) {
        self.status = status
        self.body = body
        self.redirect = redirect
        self.headers = Dictionary(headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
    }

    /// A header's value, by its name in lower case.
    public subscript(name: String) -> String? { headers[name] }

    /// How long caches may keep the answer without asking again, in seconds (RFC 9111, section 5.2.2). Nil where the host does not say.
    public var freshness: Int? {
        guard let text = self["cache-control"] else { return nil }
        var found: Int?
        for directive in text.lowercased().split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map {
                $0.filter { $0 != " " && $0 != "\"" }
            }
            switch parts.first {
            case "no-store", "no-cache": return 0
            // It takes precedence in shared caches.
            case "s-maxage": return parts.last.flatMap { Int($0) }
            case "max-age": found = parts.last.flatMap { Int($0) }
            default: break
            }
        }
        return found
    }

    /// The encoding of its body; nil for none.
    public var encoding: String? {
        self["content-encoding"].flatMap { ["", "identity"].contains($0.lowercased()) ? nil : $0 }
    }

    /// How long a cache has kept it, in seconds; 0 from the host itself.
    public var age: Int { self["age"].flatMap { Int($0) } ?? 0 }
}
