import VaultBytes
import VaultErrors
import VaultFileSystem

/// The folder that is served.
final class StaticSite: Sendable {
    private let root: Folder

    init(_ root: consuming Folder) { self.root = root }

    /// The file at a request's target; nil unless it is a readable file below the root.
    ///
    /// Every component is opened without following links, so that no path leaves the root.
    func file(at target: String) -> StaticFile? {
        guard let names = Self.names(in: target), let last = names.last else { return nil }
        return try? open(names.dropLast(), last)
    }

    private func open(_ folders: ArraySlice<[UInt8]>, _ name: [UInt8]) throws(VaultError) -> StaticFile {
        guard let first = folders.first else { return try StaticFile(try root.openFile(name), name: name) }
        var folder = try root.openFolder(first)
        for name in folders.dropFirst() { folder = try folder.openFolder(name) }
        return try StaticFile(try folder.openFile(name), name: name)
    }

    /// The components of `/a/b%20c?query`, decoded one by one; nil when one is empty or hidden. ``Folder`` refuses a
    /// decoded slash or NUL.
    static func names(in target: String) -> [[UInt8]]? {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.first == UInt8(ascii: "/") else { return nil }
        var names: [[UInt8]] = []
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            guard let name = PercentEncoding.decode(segment), let first = name.first,
                first != UInt8(ascii: ".")
            else { return nil }
            names.append(name)
        }
        return names
    }
}
