internal import CVaultSystem
internal import SystemPackage
internal import VaultErrors

/// Renames atomically; returns 0 or -errno. Without `replacing` an existing name is EEXIST.
func vaultRename(
    _ fromFolder: Int32, _ from: UnsafePointer<CChar>, _ toFolder: Int32, _ to: UnsafePointer<CChar>,
    replacing: Bool
) -> Int32 {
    if replacing { return unsafe vault_rename(fromFolder, from, toFolder, to) }
    let result = unsafe vault_rename_new(fromFolder, from, toFolder, to)
    guard result == -EINVAL || result == -ENOSYS else { return result }
    // NFS and some others lack RENAME_NOREPLACE. A hard link refuses an existing name as well; folders can't have one,
    // so an empty folder created in between would be replaced.
    let linked = unsafe vault_link(fromFolder, from, toFolder, to)
    if linked == 0 { return unsafe vault_unlink(fromFolder, from) }
    if linked == -EEXIST { return linked }
    var status = stat()
    let found = unsafe vault_stat(toFolder, to, 0, &status)
    if found == 0 { return -EEXIST }
    return found == -ENOENT ? unsafe vault_rename(fromFolder, from, toFolder, to) : found
}

/// Throws for a failed rename, with the path that caused the failure.
func checkRename(_ result: Int32, from: FilePath, to: FilePath) throws(VaultError) {
    guard result < 0 else { return }
    if result == -ENOENT || result == -ENOTDIR {
        if try FileSystem.status(of: from) == nil { throw .system(ENOENT, .changing, "move", from) }
    }
    throw .system(result, .creating, "move \(from.string) here", to)
}
