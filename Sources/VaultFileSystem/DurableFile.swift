internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// Whole files, never seen half-done: a temporary file beside the target, `fsync`, a rename, `fsync` of
/// the folder. On any error nothing is left over and the target is as it was.
public enum DurableFile {
    /// Without `replacing` an existing target throws `.unwritable`.
    public static func write(
        _ bytes: Span<UInt8>, to target: FilePath, permissions: UInt16, replacing: Bool
    ) throws(VaultError) {
        let scratch = try ScratchFile(for: target)
        try scratch.file.write(bytes, at: 0)
        try scratch.commit(permissions: permissions, replacing: replacing)
    }

    /// The whole content of a regular file. Throws `.corrupt` when it has more than `limit` bytes.
    public static func read(_ path: FilePath, limit: Int) throws(VaultError) -> [UInt8] {
        let file = try OpenFile(reading: path)
        return try file.readAll(limit: limit)
    }

    /// Copies a file to a new name, durably. `verify` looks at the finished copy before it gets its name,
    /// and throws to refuse it. An existing target throws `.unwritable`.
    public static func copy(
        from source: FilePath, to target: FilePath, permissions: UInt16,
        verify: (borrowing OpenFile) throws(VaultError) -> Void
    ) throws(VaultError) {
        let file = try OpenFile(reading: source)
        let scratch = try ScratchFile(for: target)
        let size = try file.status().size
        try scratch.file.allocate(size)
        var buffer: [UInt8] = []
        var offset: UInt64 = 0
        while offset < size,
            try file.read(into: &buffer, upTo: Int(min(1 << 20, size - offset)), at: offset) > 0
        {
            try scratch.file.write(buffer.span, at: offset)
            offset += UInt64(buffer.count)
        }
        // The source may have shrunk after room was reserved for it.
        try scratch.file.truncate(to: offset)
        try scratch.file.synchronize()
        try verify(scratch.file)
        try scratch.commit(permissions: permissions, replacing: false)
    }

    /// Moves a file to a new name, durably: by a rename, or where the file system is another one by
    /// ``copy(from:to:permissions:verify:)`` and removing the source at the end.
    ///
    /// `verify` looks at what will have the new name, before it has it, and throws to refuse it; then the
    /// source stays. An existing target throws `.unwritable`. When the target is complete but the source
    /// can't be removed, that is thrown, and both are there.
    public static func move(
        from source: FilePath, to target: FilePath, verify: (borrowing OpenFile) throws(VaultError) -> Void
    ) throws(VaultError) {
        let file = try OpenFile(reading: source)
        let oldFolder = try Folder(holding: source)
        let newFolder = try Folder(holding: target)
        let permissions = try file.status().permissions
        if try oldFolder.status().device == newFolder.status().device {
            try file.synchronize()
            try verify(file)
            let result = FileSystem.rename(source, target, replacing: false)
            if result != -EXDEV {
                try checkRename(result, from: source, to: target)
                try newFolder.synchronize()
                return try oldFolder.synchronize()
            }
        }
        try copy(from: source, to: target, permissions: permissions, verify: verify)
        try FileSystem.unlink(source)
        try oldFolder.synchronize()
    }
}
