internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// A new file beside its final place: it becomes final in one durable step, or goes away in every case.
public struct ScratchFile: ~Copyable, Sendable {
    /// The file, open for reading and writing, 0600 until it is final.
    public let file: OpenFile
    private let target: FilePath
    private let parent: Folder
    private let entry: LiveScratch.Entry
    private var isFinal = false

    /// Throws `.unwritable` where the folder of `target` is missing or can't be written.
    public init(for target: FilePath) throws(VaultError) {
        let parent = try Folder(holding: target)
        let name = try ScratchName.random(for: target)
        let entry = LiveScratch.Entry(
            parent: parent.descriptor, name: try CheckedName(name, in: parent.path).characters)
        LiveScratch.add(entry)
        do {
            file = try parent.createFile(name, permissions: 0o600)
        } catch {
            LiveScratch.forget(entry)
            throw error
        }
        _ = vault_try_lock(file.descriptor, 1)
        self.target = target
        self.parent = parent
        self.entry = entry
    }

    /// Saves the content to the disk and gives the file its final name and permissions.
    ///
    /// Without `replacing` an existing target throws `.unwritable`. On any error the file is removed and
    /// the target is as it was.
    public consuming func commit(permissions: UInt16, replacing: Bool) throws(VaultError) {
        guard let final = target.lastComponent, final.kind == .regular else {
            throw .system(EISDIR, .creating, "create", target)
        }
        try file.setPermissions(permissions)
        try file.synchronize()
        try LiveScratch.settle(entry) { () throws(VaultError) in
            try parent.finish(entry.name, as: final, replacing: replacing, target: target)
        }
        isFinal = true
        try parent.synchronize()
    }

    deinit {
        if !isFinal {
            _ = unsafe vault_unlink(entry.parent, entry.name)
            LiveScratch.forget(entry)
        }
    }
}

extension Folder {
    /// The folder of a file that is to be made.
    init(holding target: FilePath) throws(VaultError) {
        let path = target.parent
        let opened = unsafe path.withPlatformString { unsafe vault_open(VAULT_HERE, $0, VAULT_FOLDER, 0) }
        self = Folder(takingOwnershipOf: try check(opened, .creating, "create", target), named: path)
    }

    /// Gives a scratch entry its final name.
    func finish(
        _ name: [CChar], as final: FilePath.Component, replacing: Bool, target: FilePath
    ) throws(VaultError) {
        let result = unsafe final.withPlatformString {
            unsafe vaultRename(descriptor, name, descriptor, $0, replacing: replacing)
        }
        try check(result, .creating, "create", target)
    }
}
