public import SystemPackage
public import VaultErrors

/// A new file beside its final place: it becomes final in one durable step, or goes away in every case.
public struct ScratchFile: ~Copyable, Sendable {
    /// The file, open for reading and writing; 0600 until it is final.
    public let file: OpenFile
    private var place: ScratchPlace
    private let name: CheckedName
    private let target: FilePath

    /// Throws `.unwritable` where the folder of `target` is missing or can't be written.
    public init(for target: FilePath) throws(VaultError) {
        self = try ScratchPlace.make { () throws(VaultError) in try Self.make(for: target) }
    }

    private static func make(for target: FilePath) throws(VaultError) -> ScratchFile {
        let name = try CheckedName(endOf: target)
        let place = try ScratchPlace(in: try Folder(holding: target))
        let made = try place.create { (folder, name) throws(VaultError) in
            try folder.createFile(name, permissions: 0o600)
        }
        try place.claim(made)
        // Errors name what it is to become.
        let file = try OpenFile(duplicating: made.descriptor, named: target)
        return ScratchFile(file: file, place: place, name: name, target: target)
    }

    private init(
        file: consuming OpenFile, place: consuming ScratchPlace, name: CheckedName, target: FilePath
    ) {
        self.file = file
        self.place = place
        self.name = name
        self.target = target
    }

    /// Saves the content to the disk and gives the file its final name and permissions.
    ///
    /// Without `replacing` an existing target throws `.unwritable`. On any error before the rename the
    /// file is removed and the target is as it was.
    public consuming func commit(permissions: UInt16, replacing: Bool) throws(VaultError) {
        try settle(as: name, target, permissions: permissions, replacing: replacing)
    }

    /// The same under another name in the same folder, for a name that follows from the content.
    public consuming func commit(as name: String, permissions: UInt16, replacing: Bool) throws(VaultError) {
        let target = target.removingLastComponent().appending(name)
        try settle(as: CheckedName(endOf: target), target, permissions: permissions, replacing: replacing)
    }

    /// Gives the file its final name and permissions without waiting for the disk; replaces what stands there.
    consuming func commitUnsaved(permissions: UInt16) throws(VaultError) {
        try file.setFirstPermissions(permissions)
        try place.settle(as: name, in: place.folder.descriptor, path: target, replacing: true)
    }

    private mutating func settle(
        as name: CheckedName, _ target: FilePath, permissions: UInt16, replacing: Bool
    ) throws(VaultError) {
        try file.setFirstPermissions(permissions)
        try file.synchronize()
        let folder = place.folder.descriptor
        try place.settle(as: name, in: folder, path: target, replacing: replacing)
        try place.folder.synchronize()
    }
}
