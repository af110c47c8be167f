internal import CVaultSystem
internal import SystemPackage
public import VaultErrors

extension OpenFile {
    /// Writes all bytes at `offset`. Throws `.io`, or `.diskFull`.
    public func write(_ bytes: Span<UInt8>, at offset: UInt64) throws(VaultError) {
        try unsafe loop(bytes) { (memory, count, done) throws(VaultError) in
            let place = try self.offset(offset, plus: done)
            return unsafe vault_pwrite(descriptor, memory, count, place)
        }
    }

    /// Writes all bytes after those written last; works for pipes too.
    public func writeNext(_ bytes: Span<UInt8>) throws(VaultError) {
        try unsafe loop(bytes) { (memory, count, _) throws(VaultError) in
            unsafe vault_write(descriptor, memory, count)
        }
    }

    /// Reserves disk space for `size` bytes and extends the file to that size with zeros, so that a full disk is
    /// detected early. Does nothing where the file system can't reserve space.
    public func allocate(_ size: UInt64) throws(VaultError) {
        guard size > 0 else { return }
        let result = vault_allocate(descriptor, try offset(size, plus: 0))
        if result == -EOPNOTSUPP || result == -ENOSYS { return }
        try check(result, .changing, "reserve \(size) bytes", path)
    }

    /// Starts writing `range` to the disk, so that `synchronize()` has less to wait for. A hint: nothing is durable
    /// after it, and errors are ignored.
    public func beginWritingBack(_ range: Range<UInt64>) {
        guard let start = Int64(exactly: range.lowerBound), let length = Int64(exactly: range.count) else {
            return
        }
        vault_begin_writing_back(descriptor, start, length)
    }

    /// Sets the modification time to now: a sign of life for other processes. A hint: errors are ignored.
    public func touch() { vault_touch(descriptor) }

    /// Sets the size of the file, in bytes.
    public func truncate(to size: UInt64) throws(VaultError) {
        try check(vault_truncate(descriptor, try offset(size, plus: 0)), .changing, "truncate", path)
    }

    /// Waits until content and status are on the disk (`fsync`). After an error the content must be written again: a
    /// second call would falsely succeed.
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
