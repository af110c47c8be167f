public import SystemPackage
public import VaultBase

/// Whole files, replaced atomically and durably: a temporary file beside the target, `fsync`, a rename, `fsync` of the
/// folder. On any error nothing is left over and the target is unchanged.
public enum DurableFile {
    /// Without `replacing` an existing target throws `.unwritable`.
    public static func write(
        _ bytes: Span<UInt8>, to target: FilePath, permissions: UInt16, replacing: Bool
    ) throws(VaultError) {
        let scratch = try ScratchFile(for: target)
        try scratch.file.write(bytes, at: 0)
        try scratch.commit(permissions: permissions, replacing: replacing)
    }

    /// Throws `.unwritable` unless `target` does not exist, or is a regular file and `replacing` is set: nothing else
    /// is ever replaced.
    public static func requireWritable(_ target: FilePath, replacing: Bool) throws(VaultError) {
        guard let kind = try FileSystem.status(of: target)?.kind else { return }
        guard kind == .file else {
            throw VaultError(
                .unwritable, "it exists and is not a regular file", at: target.string,
                remedy: "choose another name")
        }
        guard replacing else {
            throw VaultError(
                .unwritable, "it exists already", at: target.string,
                remedy: "choose another name, or replace it", hint: .replacing)
        }
    }

    /// The whole content of a regular file. Throws `.corrupt` when it has more than `limit` bytes.
    public static func read(_ path: FilePath, limit: Int) throws(VaultError) -> [UInt8] {
        let file = try OpenFile(reading: path)
        return try file.readAll(limit: limit)
    }
}

/// Files that can be fetched again: replaced atomically but not durably, so after a power failure one may be empty,
/// damaged or missing. The reader must detect that.
public enum CachedFile {
    public static func write(
        _ bytes: Span<UInt8>, to target: FilePath, permissions: UInt16
    ) throws(VaultError) {
        let scratch = try ScratchFile(for: target)
        try scratch.file.write(bytes, at: 0)
        try scratch.commitUnsaved(permissions: permissions)
    }
}
