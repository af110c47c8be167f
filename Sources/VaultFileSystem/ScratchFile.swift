public import SystemPackage
public import VaultErrors

/// A temporary file beside its final path: committed atomically and durably, or removed in all other cases.
public struct ScratchFile: ~Copyable, Sendable {
    /// The file, open for reading and writing; its mode is 0600 until it is committed.
    public let file: OpenFile
    private var entry: ScratchEntry
    private let name: CheckedName
    private let target: FilePath

    /// Throws `.unwritable` when the folder of `target` is missing or can't be written.
    public init(for target: FilePath) throws(VaultError) {
        self = try ScratchEntry.make { () throws(VaultError) in try Self.make(for: target) }
    }

    private static func make(for target: FilePath) throws(VaultError) -> ScratchFile {
        let name = try CheckedName(endOf: target)
        let entry = try ScratchEntry(in: try Folder(holding: target))
        let made = try entry.create { (folder, name) throws(VaultError) in
            try folder.createFile(name, permissions: 0o600)
        }
        try entry.claim(made)
        // Errors show the final path.
        let file = try OpenFile(duplicating: made.descriptor, named: target)
        return ScratchFile(file: file, entry: entry, name: name, target: target)
    }

    private init(
        file: consuming OpenFile, entry: consuming ScratchEntry, name: CheckedName, target: FilePath
    ) {
        self.file = file
        self.entry = entry
        self.name = name
        self.target = target
    }

    /// Saves the content to the disk and gives the file its final name and permissions.
    ///
    /// Without `replacing` an existing target throws `.unwritable`. On any error before the rename the file is removed
    /// and the target is unchanged.
    public consuming func commit(permissions: UInt16, replacing: Bool) throws(VaultError) {
        try commit(as: name, target, permissions: permissions, replacing: replacing)
    }

    /// The same under another name in the same folder, for a name that depends on the content.
    public consuming func commit(as name: String, permissions: UInt16, replacing: Bool) throws(VaultError) {
        let target = target.removingLastComponent().appending(name)
        try commit(as: CheckedName(endOf: target), target, permissions: permissions, replacing: replacing)
    }

    /// Gives the file its final name and permissions without waiting for the disk; replaces an existing file.
    consuming func commitUnsaved(permissions: UInt16) throws(VaultError) {
        try file.setPermissionsOfNew(permissions)
        try entry.commit(as: name, in: entry.folder.descriptor, path: target, replacing: true)
    }

    private mutating func commit(
        as name: CheckedName, _ target: FilePath, permissions: UInt16, replacing: Bool
    ) throws(VaultError) {
        try file.setPermissionsOfNew(permissions)
        try file.synchronize()
        let folder = entry.folder.descriptor
        try entry.commit(as: name, in: folder, path: target, replacing: replacing)
        try entry.folder.synchronize()
    }
}
