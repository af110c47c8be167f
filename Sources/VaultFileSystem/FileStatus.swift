internal import CVaultSystem
internal import SystemPackage
internal import VaultErrors

/// The attributes of a file, folder or link at one moment (`stat`).
public struct FileStatus: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case file, folder, link
        case pipe, socket, device

        /// Such as "a folder".
        var withArticle: String {
            switch self {
            case .file: "a regular file"
            case .folder: "a folder"
            case .link: "a symbolic link"
            case .pipe: "a pipe"
            case .socket: "a socket"
            case .device: "a device"
            }
        }
    }

    public let kind: Kind
    /// In bytes, meaningful for files.
    public let size: UInt64
    /// The twelve permission bits.
    public let permissions: UInt16
    /// The user ID of the owner.
    public let owner: UInt32
    /// The number of names that the file has.
    public let hardLinks: UInt64
    /// Device and inode together identify the file.
    public let device: UInt64
    public let inode: UInt64
    /// The time of the last change of the content: nanoseconds since 1970.
    public let modified: Int64
    /// The time of the last change of content or status, which programs can't set: nanoseconds since 1970.
    public let changed: Int64

    init(_ status: stat) {
        kind =
            switch Int32(bitPattern: status.st_mode) & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            default: .device
            }
        size = UInt64(clamping: status.st_size)
        permissions = UInt16(truncatingIfNeeded: status.st_mode & 0o7777)
        owner = status.st_uid
        hardLinks = UInt64(clamping: status.st_nlink)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        modified = status.st_mtim.nanoseconds
        changed = status.st_ctim.nanoseconds
    }

    /// Throws `.corrupt` when it is of another kind.
    func require(_ wanted: Kind, _ path: FilePath) throws(VaultError) {
        guard kind != wanted else { return }
        throw VaultError(
            .corrupt, "is \(kind.withArticle), not \(wanted.withArticle)", at: path.string,
            remedy: "put \(wanted.withArticle) there or use another path")
    }

    /// Whether both are the same file, by device and inode.
    public func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }
}

extension timespec {
    /// Since 1970, clamped to the range of `Int64` (the years 1678 to 2262).
    fileprivate var nanoseconds: Int64 {
        let (product, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return tv_sec < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(Int64(tv_nsec))
        return sumOverflow ? .max : sum
    }
}
