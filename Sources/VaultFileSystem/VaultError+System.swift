internal import CVaultSystem
internal import SystemPackage
package import VaultBase

/// The purpose of a system call: the same errno means different things when reading a file and when creating one.
enum Purpose {
    case reading, creating, changing
}

/// Throws when the result of a C shim is negative: then it is -errno.
@discardableResult
func check<Result: SignedInteger>(
    _ result: Result, _ purpose: Purpose, _ action: @autoclosure () -> String,
    _ path: @autoclosure () -> FilePath
) throws(VaultError) -> Result {
    guard result < 0 else { return result }
    throw .system(result, purpose, action(), path())
}

extension VaultError {
    /// The error for a failed call. `code` is an errno or its negation.
    static func system(
        _ code: some BinaryInteger, _ purpose: Purpose, _ action: String, _ path: FilePath
    ) -> VaultError {
        let code = Int32(truncatingIfNeeded: code.magnitude)
        let (category, reason, remedy) = meaning(of: code, purpose)
        return VaultError(
            category, "can't \(action): \(reason)", at: path.string, remedy: remedy,
            code: code == EMFILE || code == ENFILE ? openFileLimit : nil)
    }

    /// Whether it could not be looked at because too many files are open: that says nothing about what is there.
    package var isOpenFileLimit: Bool { code == Self.openFileLimit }

    /// Whether a key could not be read as storage failed: it may be there.
    package var isUnreadKey: Bool { category == .key && (code == Finding.Code(.io) || isOpenFileLimit) }

    private static let openFileLimit: Finding.Code = "open-file-limit"

    private static func meaning(of code: Int32, _ purpose: Purpose) -> (Category, String, String) {
        switch (code, purpose) {
        case (ENOSPC, _):
            (.diskFull, "disk full", "free some space and try again")
        case (EDQUOT, _):
            (.diskFull, "disk full for this user (quota)", "free some space and try again")
        case (EEXIST, _), (ENOTEMPTY, _):
            (.unwritable, "it exists already", "remove it or choose another name")
        case (ENOENT, .creating):
            (.unwritable, "the folder that should hold it does not exist", "create that folder first")
        case (ENOTDIR, .creating):
            (.unwritable, "a file is where a folder should be", "choose another path")
        case (ENOENT, _), (ENOTDIR, _):
            (.missing, "no such file or folder", "check the path")
        case (EACCES, .reading), (EPERM, .reading):
            (.io, "permission denied", "make it readable for this user")
        case (EACCES, _), (EPERM, _):
            (.unwritable, "permission denied", "choose a folder where this user may write")
        case (EROFS, _):
            (.unwritable, "read-only file system", "choose a writable folder")
        case (EISDIR, .creating), (ELOOP, .creating), (ENAMETOOLONG, .creating):
            (.unwritable, text(of: code), "choose another name")
        case (ENAMETOOLONG, _):
            (.missing, text(of: code), "check the path")
        case (ELOOP, _):
            (
                .corrupt, "it is a symbolic link, or links on its path are too many or lead in a circle",
                "replace the link by what it should lead to"
            )
        case (EXDEV, _):
            (.io, "the two paths are on different file systems", "copy it instead")
        case (EMFILE, _), (ENFILE, _):
            (.io, text(of: code), "raise the limit (ulimit -n) and try again")
        case (EPIPE, _):
            (.io, "the reader closed the pipe", "keep the reading program running")
        default:
            (.io, text(of: code), "check the disk and the file system")
        }
    }

    private static func text(of code: Int32) -> String {
        Errno(rawValue: code).description.lowercased()
    }
}
