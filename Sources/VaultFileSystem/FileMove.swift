internal import CVaultSystem
public import SystemPackage
public import VaultBase

/// A durable move of a file: the initializer does the slow part, ``commit()`` is short.
///
/// On one file system the file is renamed; else it is copied beside the target, and the copy is renamed. A move that is
/// not committed leaves the source unchanged and nothing beside the target.
public struct FileMove: ~Copyable, Sendable {
    private let source: FilePath
    private let target: FilePath
    private let file: OpenFile
    private let copy: ScratchFile?
    private let verify: @Sendable (borrowing OpenFile) throws(VaultError) -> Void

    /// A link at the source is refused: it would be moved itself.
    ///
    /// - Parameter verify: checks the file that will get the new name, and throws to refuse it.
    public init(
        from source: FilePath, to target: FilePath,
        verify: @escaping @Sendable (borrowing OpenFile) throws(VaultError) -> Void
    ) throws(VaultError) {
        let file = try OpenFile(readingWithoutLink: source)
        let device = try Folder(holding: source).status().device
        let copy: ScratchFile?
        if try device == Folder(holding: target).status().device {
            try file.synchronize()
            try verify(file)
            copy = nil
        } else {
            copy = try Self.verifiedCopy(of: file, for: target, verify: verify)
        }
        self = Self(source: source, target: target, file: file, copy: copy, verify: verify)
    }

    /// Always copies: for a file that others may still have open, and could change under its new name.
    public static func copying(
        from source: FilePath, to target: FilePath,
        verify: @escaping @Sendable (borrowing OpenFile) throws(VaultError) -> Void
    ) throws(VaultError) -> FileMove {
        let file = try OpenFile(readingWithoutLink: source)
        let copy = try verifiedCopy(of: file, for: target, verify: verify)
        return FileMove(source: source, target: target, file: file, copy: copy, verify: verify)
    }

    private init(
        source: FilePath, target: FilePath, file: consuming OpenFile, copy: consuming ScratchFile?,
        verify: @escaping @Sendable (borrowing OpenFile) throws(VaultError) -> Void
    ) {
        self.source = source
        self.target = target
        self.file = file
        self.copy = copy
        self.verify = verify
    }

    /// Gives the file its new name. An existing target throws `.unwritable`. When the source can't be removed
    /// afterwards, that error is thrown, and both files exist.
    public consuming func commit() throws(VaultError) {
        let permissions = try file.status().permissions
        let oldFolder = try Folder(holding: source)
        if let copy {
            try copy.commit(permissions: permissions, replacing: false)
        } else {
            let result = FileSystem.rename(source, target, replacing: false)
            if result != -EXDEV {
                try checkRename(result, from: source, to: target)
                try Self.require(file.status(), at: target, from: source)
                try Folder(holding: target).synchronize()
                return try oldFolder.synchronize()
            }
            // The same file system, mounted twice.
            try Self.verifiedCopy(of: file, for: target, verify: verify)
                .commit(permissions: permissions, replacing: false)
        }
        do { try FileSystem.removeFile(source) } catch {
            guard error.category == .missing else { throw error }
        }
        try oldFolder.synchronize()
    }

    /// A rename works by name: a file that replaced the source meanwhile is removed again.
    private static func require(_ moved: FileStatus, at target: FilePath, from source: FilePath)
        throws(VaultError)
    {
        if try FileSystem.status(of: target)?.isSameFile(as: moved) == true { return }
        try FileSystem.removeTree(target)
        throw VaultError(
            .corrupt, "the file was replaced during the move", at: source.string,
            remedy: "stop other programs from writing there, and try again")
    }

    /// Copies a file durably. An existing target throws `.unwritable`, a file of another length `.corrupt`.
    ///
    /// - Parameter verify: checks the copy before it gets its name, and throws to refuse it.
    public static func copy(
        _ source: FilePath, of length: UInt64, to target: FilePath, permissions: UInt16,
        verify: (borrowing OpenFile) throws(VaultError) -> Void
    ) throws(VaultError) {
        let file = try OpenFile(reading: source)
        guard try file.status().size == length else {
            throw VaultError(
                .corrupt, "it has \(try file.status().size) bytes, not \(length)", at: source.string,
                remedy: "download the file again")
        }
        try verifiedCopy(of: file, for: target, verify: verify)
            .commit(permissions: permissions, replacing: false)
    }

    /// A copy beside `target`, saved to the disk, without its final name.
    private static func verifiedCopy(
        of file: borrowing OpenFile, for target: FilePath,
        verify: (borrowing OpenFile) throws(VaultError) -> Void
    ) throws(VaultError) -> ScratchFile {
        let scratch = try ScratchFile(for: target)
        try file.copyContent(to: scratch.file)
        try scratch.file.synchronize()
        try verify(scratch.file)
        return scratch
    }
}
