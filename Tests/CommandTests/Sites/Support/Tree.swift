import Foundation
import SystemPackage
import VaultCrypto
import VaultFileSystem

/// The content of a folder, by relative path.
struct Tree: Equatable {
    enum Entry: Equatable {
        case file(SHA256Digest, isExecutable: Bool)
        case folder
        case link(String)
        /// A pipe, a socket or a device.
        case special
    }

    let root: URL
    let entries: [String: Entry]
    let permissions: [String: UInt16]

    /// The folder at `path`, or what a link there leads to.
    init(_ path: String) throws {
        root = URL(filePath: path).resolvingSymlinksInPath()
        var entries: [String: Entry] = [:]
        var permissions: [String: UInt16] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root.path(percentEncoded: false)) {
            let path = FilePath(root.path(percentEncoded: false)).appending(name)
            guard let status = try FileSystem.status(of: path) else { continue }
            permissions[name] = status.permissions
            entries[name] = try Entry(at: path, status)
        }
        (self.entries, self.permissions) = (entries, permissions)
    }

    /// Of equal names, kinds and bytes.
    static func == (one: Tree, other: Tree) -> Bool { one.entries == other.entries }

    /// The paths of all regular files, sorted.
    var files: [String] {
        entries.filter { if case .file = $0.value { true } else { false } }.keys.sorted()
    }

    /// The packs in permanent storage, without the app's own records and metadata, and without what is arriving.
    var packs: [String: Entry] { entries.filter { !$0.key.hasPrefix("@") && !$0.key.contains(".arriving") } }

    /// What work that is not finished has left.
    var scratch: [String] { entries.keys.filter { $0.contains(".assetvault-") } }

    /// The paths of the files whose bytes hold `needle`.
    func files(holding needle: [UInt8]) throws -> [String] {
        try files.filter {
            try Data(contentsOf: root.appending(path: $0)).range(of: Data(needle)) != nil
        }
    }
}

extension Tree.Entry {
    fileprivate init(at path: FilePath, _ status: FileStatus) throws {
        switch status.kind {
        case .folder: self = .folder
        case .link: self = .link(try FileManager.default.destinationOfSymbolicLink(atPath: path.string))
        case .file:
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: path.string)))
            self = .file(SHA256.hash(bytes.span), isExecutable: status.permissions & 0o100 != 0)
        default: self = .special
        }
    }
}
