public import SystemPackage
import VaultBytes
public import VaultErrors

/// Where a site, or one file of it, is found: an http or https URL, or a folder of this machine.
///
/// A location is checked when it is made, so that everything appended to it stays below it and it can be
/// shown in every message: it never holds user information, a query or control characters.
public struct SiteLocation: Hashable, Sendable {
    enum Address: Hashable, Sendable {
        case http(HTTPURL)
        case file(FilePath)
    }

    let address: Address

    init(_ address: Address) { self.address = address }

    /// A folder, or a file in it, by its path on this machine.
    public init(path: FilePath) { address = .file(path) }

    /// Reads what a person typed: `https://…`, `http://…`, `file:///…` (RFC 8089) or the path of a folder.
    ///
    /// - Throws: `.usage` for any other scheme, for user information, a query or a fragment, and for
    ///   characters that a URL can't hold. The text is not repeated when it might hold a password.
    public init(_ text: String) throws(VaultError) {
        if let path = try Self.filePath(fromURL: text) {
            address = .file(path)
            return
        }
        guard let schemeEnd = text.firstRange(of: "://") else {
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw Self.unusable("an empty path or one with a NUL", shown: "site location")
            }
            address = .file(FilePath(text))
            return
        }
        let authority = text[schemeEnd.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            throw Self.unusable("a user name or password in the URL", shown: "site location")
        }
        guard let url = HTTPURL(text), url.query == nil, !text.contains("#") else {
            throw Self.unusable("not a plain http, https or file URL", shown: text)
        }
        var path = url.path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        address = .http(url.replacingPath(String(path)))
    }

    /// The folder or file on this machine; nil for http and https.
    public var path: FilePath? {
        if case .file(let path) = address { path } else { nil }
    }

    /// Whether http or https goes to this machine itself.
    public var isLoopback: Bool {
        if case .http(let url) = address { url.isLoopback } else { false }
    }

    /// Whether the way there is encrypted and the host authenticated.
    public var isSecure: Bool {
        if case .http(let url) = address { url.isSecure } else { false }
    }

    private static func filePath(fromURL text: String) throws(VaultError) -> FilePath? {
        guard text.prefix(5).lowercased() == "file:" else { return nil }
        var rest = text.dropFirst(5)
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            if rest.hasPrefix("localhost/") { rest = rest.dropFirst("localhost".count) }
        }
        guard rest.hasPrefix("/"), !rest.contains("?"), !rest.contains("#"),
            let path = rest.removingPercentEncoding
        else { throw unusable("not a file URL with an absolute path", shown: text) }
        return FilePath(path)
    }

    private static func unusable(_ problem: String, shown: String) -> VaultError {
        VaultError(
            .usage, problem, at: shown,
            remedy: "give https://HOST/PATH, http://HOST/PATH, file:///PATH or a folder")
    }
}

extension SiteLocation: CustomStringConvertible {
    public var description: String {
        switch address {
        case .http(let url): url.text
        case .file(let path): path.string
        }
    }
}

extension Substring {
    /// The text with `%41` and the like decoded (RFC 3986, section 2.1); nil when that is no UTF-8 or holds a NUL.
    fileprivate var removingPercentEncoding: String? {
        guard let decoded = PercentEncoding.decode(utf8), !decoded.contains(0) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }
}
