import FoundationEssentials
import Glibc

/// What a folder holds.
struct FolderSize: Codable, Sendable {
    var files = 0
    var bytes = 0

    static func of(_ folder: String) -> FolderSize {
        var sum = FolderSize()
        forEachFile(in: folder) { _, size in
            sum.files += 1
            sum.bytes += size
        }
        return sum
    }

    /// Weighs a folder and cuts its files to nothing, which frees the disk. They are not removed between runs: ext4 looks for
    /// inodes past all that were freed in the last minutes, so each run would pay for the one before.
    static func empty(_ folder: String) -> FolderSize {
        var sum = FolderSize()
        forEachFile(in: folder) { path, size in
            sum.files += 1
            sum.bytes += size
            unsafe truncate(folder + "/" + path, 0)
        }
        return sum
    }

    /// The file in `folder` whose size is nearest to `wanted`: the same one each time.
    static func file(in folder: String, nearest wanted: Int) -> String? {
        var best: (distance: Int, path: String)?
        forEachFile(in: folder) { path, size in
            let candidate = (distance: abs(size - wanted), path: path)
            if best.map({ candidate < $0 }) ?? true { best = candidate }
        }
        return best?.path
    }

    private static func forEachFile(in folder: String, _ body: (_ path: String, _ size: Int) -> Void) {
        for path in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? [] {
            var status = stat()
            guard unsafe lstat(folder + "/" + path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                continue
            }
            body(path, Int(status.st_size))
        }
    }
}
