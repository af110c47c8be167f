import SystemPackage
public import VaultErrors

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
        var decoded: [UInt8] = []
        var rest = segment
        while let byte = rest.popFirst() {
            if isUnreserved(byte) {
                decoded.append(byte)
            } else {
                guard byte == UInt8(ascii: "%"), let high = rest.popFirst().flatMap(digit),
                    let low = rest.popFirst().flatMap(digit), case let value = high << 4 | low, value != 0,
                    !isUnreserved(value)
                else { return nil }
                decoded.append(value)
            }
        }
        guard !decoded.isEmpty, decoded != Array(".".utf8), decoded != Array("..".utf8) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        default: nil
        }
    }
}
