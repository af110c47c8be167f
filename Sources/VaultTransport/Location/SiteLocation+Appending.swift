import SystemPackage
public import VaultErrors

extension SiteLocation {
    /// A file below this location.
    ///
    /// - Parameter relativePath: Segments of `A-Z a-z 0-9 . _ -` joined by `/`, none of them empty, `.` or
    ///   `..`; so it means the same in a URL and on a disk, and never leads out.
    /// - Throws: `.corrupt` for any other path, since these come out of a site's metadata.
    public func appending(_ relativePath: String) throws(VaultError) -> SiteLocation {
        let segments = relativePath.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.allSatisfy(Self.isPlain) else {
            throw VaultError(
                .corrupt, "names a file by the path \"\(relativePath)\", which is not plain", at: description,
                remedy: "get the site from its publisher again")
        }
        switch address {
        case .http(let url): return SiteLocation(.http(url.replacingPath("\(url.path)/\(relativePath)")))
        case .file(let path): return SiteLocation(path: path.appending(relativePath))
        }
    }

    private static func isPlain(_ segment: Substring.UTF8View) -> Bool {
        guard !segment.isEmpty, !segment.allSatisfy({ $0 == UInt8(ascii: ".") }) || segment.count > 2
        else { return false }
        return segment.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
    }
}
