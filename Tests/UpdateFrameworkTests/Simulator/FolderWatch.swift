import Glibc

/// Watches files that are renamed into a folder, in order (inotify).
final class FolderWatch {
    private let descriptor: Int32

    struct Failure: Error {}

    init(_ folder: String) throws {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0,
            unsafe inotify_add_watch(descriptor, folder, UInt32(IN_MOVED_TO | IN_CREATE)) >= 0
        else {
            throw Failure()
        }
    }

    deinit {
        close(descriptor)
    }

    /// The names seen so far.
    func arrivals() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        var names: [String] = []
        var offset = 0
        // struct inotify_event: wd, mask, cookie, len (each 32 bits), then a name padded with zeros.
        while count > 0, offset + 16 <= count {
            let length = (0..<4).reduce(0) { $0 | Int(buffer[offset + 12 + $1]) << (8 * $1) }
            let name = buffer[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
            names.append(String(decoding: name, as: UTF8.self))
            offset += 16 + length
        }
        return names
    }
}
