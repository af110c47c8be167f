public import SystemPackage
public import VaultBase

/// The location of a site or of one of its files: an http or https URL, or a path on this machine.
///
/// A location is validated when it is created: what is appended stays below it, and it is safe to show, since it never
/// holds user information, a query or control characters.
public struct SiteLocation: Hashable, Sendable {
    package enum Address: Hashable, Sendable {
        case http(HTTPURL)
        case file(FilePath)
    }

    package let address: Address

    init(_ address: Address) { self.address = address }

    /// A folder, or a file in it, by its path.
    public init(path: FilePath) { address = .file(path) }

    /// Parses user input: `https://…`, `http://…`, `file:///…` (RFC 8089) or the path of a folder.
    ///
    /// - Throws: `.usage` for any other scheme, for user information, a query or a fragment, and for characters that a
    ///   URL can't have. The text is not repeated when it might hold a password.
    public init(_ text: String) throws(VaultError) {
        if let path = try Self.filePath(fromURL: text) {
            address = .file(path)
            return
        }
        guard let schemeEnd = text.firstRange(of: "://") else {
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw Self.unusable("the path is empty or has a NUL", shown: "site location")
            }
            address = .file(FilePath(text))
            return
        }
        let authority = text[schemeEnd.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            throw Self.unusable("the URL has a user name or password", shown: "site location")
        }
        guard let url = HTTPURL(text), url.query == nil, !text.contains("#") else {
            // A query may have a token.
            throw Self.unusable(
                "not a plain http, https or file URL", shown: String(text.prefix { $0 != "?" }))
        }
        var path = url.path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        address = .http(url.replacingPath(String(path)))
    }

    /// The folder or file on this machine; nil for http and https.
    public var path: FilePath? {
        if case .file(let path) = address { path } else { nil }
    }

    /// Whether it is an http or https URL of this machine.
    public var isLoopback: Bool {
        if case .http(let url) = address { url.isLoopback } else { false }
    }

    /// Whether the connection is encrypted and the host authenticated.
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
    /// The text with its percent-encoding decoded; nil when the result is not UTF-8 or has a NUL.
    fileprivate var removingPercentEncoding: String? {
        guard let decoded = PercentEncoding.decode(utf8), !decoded.contains(0) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }
}

extension SiteLocation {
    /// A file below this location.
    ///
    /// - Parameter relativePath: Segments of `A-Z a-z 0-9 . _ - ~` and percent-encoded bytes (RFC 3986) joined by `/`,
    ///   none of them empty, `.` or `..`. So it means the same in a URL and, decoded, on a disk, and stays below the
    ///   location.
    /// - Throws: `.corrupt` for any other path, since these come from a site's metadata.
    public func appending(_ relativePath: String) throws(VaultError) -> SiteLocation {
        let segments = relativePath.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var decoded: [String] = []
        for segment in segments {
            guard let name = Self.decode(segment) else {
                throw VaultError(
                    .corrupt, "the site's metadata has the unsafe path \"\(relativePath)\"",
                    at: description, remedy: "download the site from its publisher again")
            }
            decoded.append(name)
        }
        switch address {
        case .http(let url): return SiteLocation(.http(url.replacingPath("\(url.path)/\(relativePath)")))
        case .file(let path):
            guard decoded.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "/")) }) else {
                throw VaultError(
                    .corrupt, "the path \"\(relativePath)\" encodes a slash, which no file name can have",
                    at: description, remedy: "use the site at its host")
            }
            return SiteLocation(path: path.appending(decoded.joined(separator: "/")))
        }
    }

    /// The decoded segment; nil unless it is canonical: no unreserved character is encoded, and no NUL.
    private static func decode(_ segment: Substring.UTF8View) -> String? {
        guard let bytes = PercentEncoding.decode(segment), !bytes.contains(0),
            let name = String(validating: bytes, as: UTF8.self), !["", ".", ".."].contains(name),
            PercentEncoding.encode(name).utf8.elementsEqual(segment)
        else { return nil }
        return name
    }
}
