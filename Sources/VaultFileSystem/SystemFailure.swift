internal import CVaultSystem
internal import SystemPackage
internal import VaultErrors

/// What a system call was asked to do: the same errno means another thing to the reader of a file than
/// to the maker of one.
enum Purpose {
    case reading, creating, changing
}

extension VaultError {
    /// The error for a failed call. `code` is an errno, as it stands or negated.
    static func system(_ code: some BinaryInteger, _ purpose: Purpose, _ action: String, _ path: FilePath)
        -> VaultError
    {
        let code = Int32(truncatingIfNeeded: code.magnitude)
        let place = path.string
        func error(_ category: Category, _ reason: String, _ remedy: String) -> VaultError {
            VaultError(category, "can't \(action): \(reason)", at: place, remedy: remedy)
        }
        switch (code, purpose) {
        case (ENOSPC, _), (EDQUOT, _):
            return error(
                .io, code == ENOSPC ? "disk full" : "disk full (quota reached)",
                "free some space and try again")
        case (EEXIST, _), (ENOTEMPTY, _):
            return error(.unwritable, "exists already", "remove it or choose another name")
        case (ENOENT, .creating), (ENOTDIR, .creating):
            return error(
                .unwritable, "the folder that should hold it does not exist", "create that folder first")
        case (ENOENT, _), (ENOTDIR, _):
            return error(.missing, "no such file or folder", "check the path")
        case (EACCES, .reading), (EPERM, .reading):
            return error(.io, "permission denied", "make it readable for this user")
        case (EACCES, _), (EPERM, _):
            return error(.unwritable, "permission denied", "choose a place where this user may write")
        case (EROFS, _):
            return error(.unwritable, "read-only file system", "choose a place that can be written")
        case (ENAMETOOLONG, .reading):
            return error(.missing, "the name is too long", "check the path")
        case (ENAMETOOLONG, _), (EISDIR, .creating), (ELOOP, .creating):
            return error(.unwritable, Errno(rawValue: code).description, "choose another name")
        case (ELOOP, _):
            return error(
                .corrupt, "a symbolic link stands in the way", "replace the link by what it points to")
        case (EXDEV, _):
            return error(.io, "the two places are on different file systems", "copy it instead")
        case (EMFILE, _), (ENFILE, _):
            return error(.io, "too many open files", "raise the limit (ulimit -n) and try again")
        default:
            return error(.io, Errno(rawValue: code).description, "check the disk and the file system")
        }
    }

    /// Something else stands where a file or folder of one kind is needed.
    static func wrongKind(_ found: FileStatus.Kind, wanted: FileStatus.Kind, _ path: FilePath) -> VaultError {
        VaultError(
            .corrupt, "is \(found.described), not \(wanted.described)", at: path.string,
            remedy: "give \(wanted.described)")
    }
}

/// Throws when the result of a shim is negative.
@discardableResult
func check<Result: SignedInteger>(
    _ result: Result, _ purpose: Purpose, _ action: String, _ path: FilePath
) throws(VaultError) -> Result {
    guard result >= 0 else { throw .system(result, purpose, action, path) }
    return result
}
