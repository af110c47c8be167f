public import SystemPackage
public import VaultErrors

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
