import Glibc

/// An endless stream of real assets: the files of a corpus one after the other, and again; each time every byte is one
/// more than the time before, so that nothing comes twice and all compresses as it did.
struct AssetBytes {
    private let files: [String]
    private var next = 0
    private var shift: UInt8 = 0
    private var file: Int32 = -1
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    private var unread = 0..<0

    init(of folder: String) throws {
        var paths: [String] = []
        try FolderSize.forEachFile(in: folder) { path, size in if size > 0 { paths.append(path) } }
        guard !paths.isEmpty else { throw Failure("no assets in \(folder)") }
        files = paths.sorted()
    }

    /// Writes a new file of the next `count` bytes.
    mutating func write(_ count: Int, to path: String) throws {
        let output = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL, 0o644)
        guard output >= 0 else { throw Failure("can't make \(path): error \(errno)") }
        defer { Glibc.close(output) }
        var missing = count
        while missing > 0 {
            if unread.isEmpty { try refill() }
            let part = unread.prefix(missing)
            let written = unsafe buffer[part].withUnsafeBytes {
                unsafe Glibc.write(output, $0.baseAddress, $0.count)
            }
            guard written > 0 else { throw Failure("can't write \(path): error \(errno)") }
            missing -= written
            unread.removeFirst(written)
        }
    }

    static func makeFolder(_ path: String) throws {
        guard unsafe mkdir(path, 0o755) == 0 else { throw Failure("can't make \(path): error \(errno)") }
    }

    private mutating func refill() throws {
        while true {
            if file >= 0 {
                let count = unsafe buffer.withUnsafeMutableBytes {
                    unsafe Glibc.read(file, $0.baseAddress, $0.count)
                }
                guard count >= 0 else { throw Failure("can't read assets: error \(errno)") }
                if count > 0 {
                    for index in 0..<count { buffer[index] &+= shift }
                    unread = 0..<count
                    return
                }
                Glibc.close(file)
            }
            file = unsafe Glibc.open(files[next], O_RDONLY)
            guard file >= 0 else { throw Failure("can't read \(files[next]): error \(errno)") }
            next += 1
            if next == files.count { (next, shift) = (0, shift &+ 1) }
        }
    }
}
