import CVaultSystem
public import SystemPackage
public import VaultBase

/// Notes which files of some folders are opened, by any process, as the kernel reports it (inotify).
public struct FileOpenings: ~Copyable, Sendable {
    private let queue: OpenFile
    private var folders: [Int32: FilePath] = [:]
    /// Whether the kernel dropped events, since they were not read in time.
    public private(set) var isIncomplete = false

    public init() throws(VaultError) {
        let descriptor = try check(vault_watch(), .reading, "watch files", "this system")
        queue = OpenFile(takingOwnershipOf: descriptor, named: "opened files")
    }

    /// Watches the files in a folder, not those in folders below it. Throws `.limit` for more folders than the system allows.
    public mutating func watch(_ folder: FilePath) throws(VaultError) {
        let code = unsafe folder.withPlatformString { path in
            unsafe vault_watch_folder(queue.descriptor, path)
        }
        guard code != -ENOSPC else {
            throw VaultError(
                .limit, "the system watches no more folders", at: folder.string,
                remedy: "raise fs.inotify.max_user_watches, or record fewer tags")
        }
        folders[try check(code, .reading, "watch the folder", folder)] = folder
    }

    /// The files that were opened since the last call, in this order.
    public mutating func next() throws(VaultError) -> [FilePath] {
        var found: [FilePath] = []
        var events = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe events.withUnsafeMutableBytes { buffer in
                unsafe vault_read_events(queue.descriptor, buffer.baseAddress, buffer.count)
            }
            if count == -EAGAIN { return found }
            let length = try Int(check(Int32(clamping: count), .reading, "read", queue.path))
            guard length > 0 else { return found }
            unsafe events.withUnsafeBytes { buffer in
                var offset = 0
                var event = unsafe vault_opening()
                while unsafe vault_next_opening(buffer.baseAddress, length, &offset, &event) != 0 {
                    if unsafe event.is_overflow != 0 { isIncomplete = true }
                    guard let name = unsafe event.name, let folder = unsafe folders[event.folder] else {
                        continue
                    }
                    found.append(folder.appending(unsafe String(cString: name)))
                }
            }
        }
    }
}
