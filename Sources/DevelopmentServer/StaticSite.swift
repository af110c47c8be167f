import VaultBytes
import VaultErrors
import VaultFileSystem

/// The folder that is served.
final class StaticSite: Sendable {
    private let root: Folder
    /// Bytes that are missing at the end of each pack.
    private let truncation: UInt64
    /// The timestamp as it was at the start: publishing replaces its file, and leaves this one as it is.
    private let oldTimestamp: StaticFile?

    private static let timestamp = ["metadata", "timestamp.json"].map { Array($0.utf8) }

    init(_ root: consuming Folder, _ conditions: NetworkConditions = NetworkConditions()) {
        truncation = conditions.truncation
        oldTimestamp = conditions.isStale ? Self.open(Self.timestamp, in: root) : nil
        self.root = root
    }

    private static func open(_ names: [[UInt8]], in root: borrowing Folder) -> StaticFile? {
        guard names.count == 2, let folder = try? root.openFolder(names[0]),
            let file = try? folder.openFile(names[1])
        else { return nil }
        return try? StaticFile(file, name: names[1])
    }

    /// The file at a request's target; nil unless it is a readable file below the root.
    ///
    /// Every component is opened without following links, so that no path leaves the root.
    func file(at target: String) -> StaticFile? {
        guard let names = Self.names(in: target), let last = names.last else { return nil }
        if let oldTimestamp, names == Self.timestamp { return oldTimestamp }
        return try? open(names.dropLast(), last)
    }

    private func open(_ folders: ArraySlice<[UInt8]>, _ name: [UInt8]) throws(VaultError) -> StaticFile {
        let missing = name.suffix(7).elementsEqual(".avpack".utf8) ? truncation : 0
        guard let first = folders.first else {
            return try StaticFile(try root.openFile(name), name: name, missing: missing)
        }
        var folder = try root.openFolder(first)
        for name in folders.dropFirst() { folder = try folder.openFolder(name) }
        return try StaticFile(try folder.openFile(name), name: name, missing: missing)
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
