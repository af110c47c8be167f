import Glibc

/// The size of a folder.
struct FolderSize: Codable, Sendable {
    var files = 0
    var bytes = 0

    static func of(_ folder: String) throws -> FolderSize {
        var sum = FolderSize()
        try forEachFile(in: folder) { _, size in
            sum.files += 1
            sum.bytes += size
        }
        return sum
    }

    /// Measures a folder and truncates its files, which frees the disk. They are not removed between runs: ext4 looks for
    /// inodes past all that were freed in the last minutes, so each run would pay for the one before.
    static func empty(_ folder: String) throws -> FolderSize {
        var sum = FolderSize()
        try forEachFile(in: folder) { path, size in
            sum.files += 1
            sum.bytes += size
            unsafe chmod(path, 0o600)
            unsafe truncate(path, 0)
        }
        return sum
    }

    /// The file in `folder` whose size is nearest to `wanted`: the same one each time, by its path below `folder`.
    static func file(in folder: String, nearest wanted: Int) throws -> String? {
        var best: (distance: Int, path: String)?
        try forEachFile(in: folder) { path, size in
            let candidate = (distance: abs(size - wanted), path: String(path.dropFirst(folder.count + 1)))
            if best.map({ candidate < $0 }) ?? true { best = candidate }
        }
        return best?.path
    }

    /// Visits one file after the other and holds no list of them: a new process is charged with the peak memory of
    /// this one.
    static func forEachFile(in folder: String, _ body: (_ path: String, _ size: Int) throws -> Void) throws {
        guard let listing = unsafe opendir(folder) else {
            throw Failure("can't list \(folder): error \(errno)")
        }
        defer { unsafe closedir(listing) }
        while let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name == "." || name == ".." { continue }
            let path = folder + "/" + name
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { throw Failure("can't see \(path): error \(errno)") }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try forEachFile(in: path, body)
            case S_IFREG: try body(path, Int(status.st_size))
            default: break
            }
        }
    }
}
