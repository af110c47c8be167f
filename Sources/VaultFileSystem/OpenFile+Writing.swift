internal import CVaultSystem
internal import SystemPackage
public import VaultErrors

extension OpenFile {
    /// Writes all bytes at `offset`. Throws `.io`, for a full disk too.
    public func write(_ bytes: Span<UInt8>, at offset: UInt64) throws(VaultError) {
        try unsafe loop(bytes) { (memory, count, done) throws(VaultError) in
            let place = try self.offset(offset, plus: done)
            return unsafe vault_pwrite(descriptor, memory, count, place)
        }
    }

    /// Writes all bytes after those written last; for pipes too.
    public func writeNext(_ bytes: Span<UInt8>) throws(VaultError) {
        try unsafe loop(bytes) { (memory, count, _) throws(VaultError) in
            unsafe vault_write(descriptor, memory, count)
        }
    }

    /// Reserves room for a file of `count` bytes and makes it that long (zeros), so that a full disk
    /// shows before the work. Where the file system can't reserve, nothing happens.
    public func allocate(_ count: UInt64) throws(VaultError) {
        guard count > 0 else { return }
        let result = vault_allocate(descriptor, try offset(count, plus: 0))
        if result == -EOPNOTSUPP || result == -ENOSYS { return }
        try check(result, .changing, "reserve \(count) bytes", path)
    }

    /// Lets the disk begin with what was written in `range`, so that it does not stand still until `synchronize()` and then
    /// everybody waits for it. A hint: nothing is durable after it, and no error shows.
    public func beginWritingBack(_ range: Range<UInt64>) {
        guard let start = Int64(exactly: range.lowerBound), let count = Int64(exactly: range.count) else {
            return
        }
        vault_begin_writing_back(descriptor, start, count)
    }

    /// Makes now the time of the file's last change: a sign of life for other processes. A hint: no error shows.
    public func touch() { vault_touch(descriptor) }

    /// Makes the file exactly `count` bytes long.
    public func truncate(to count: UInt64) throws(VaultError) {
        try check(vault_truncate(descriptor, try offset(count, plus: 0)), .changing, "truncate", path)
    }

    /// Waits until content and status are on the disk (`fsync`). After an error the content must be
    /// written anew: a second call would claim success.
    public func synchronize() throws(VaultError) {
        try check(vault_fsync(descriptor), .changing, "save to the disk", path)
    }

    private func loop(
        _ bytes: Span<UInt8>, _ call: (UnsafeRawPointer, Int, Int) throws(VaultError) -> Int
    ) throws(VaultError) {
        try unsafe bytes.withUnsafeBytes { (memory) throws(VaultError) in
            guard let start = memory.baseAddress else { return }
            var done = 0
            while done < memory.count {
                let put = try check(
                    unsafe call(start + done, memory.count - done, done), .changing, "write", path)
                guard put > 0 else { throw .system(EIO, .changing, "write", path) }
                done += put
            }
        }
    }
}
