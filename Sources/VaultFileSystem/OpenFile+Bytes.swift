import CVaultSystem
import SystemPackage
public import VaultBase

extension OpenFile {
    /// Replaces the content of `buffer` by `count` bytes from `offset`, or fewer at the end of the file; returns their
    /// number. A reused buffer needs no allocation and no zero-filling.
    @discardableResult
    public func read(into buffer: inout [UInt8], upTo count: Int, at offset: UInt64) throws(VaultError) -> Int
    {
        buffer.removeAll(keepingCapacity: true)
        return try append(to: &buffer, upTo: count, at: offset)
    }

    /// Appends `count` bytes from `offset` to `buffer`, or fewer at the end of the file; returns their number.
    @discardableResult
    public func append(to buffer: inout [UInt8], upTo count: Int, at offset: UInt64) throws(VaultError) -> Int
    {
        try unsafe fill(&buffer, upTo: count) { (memory, count, done) throws(VaultError) in
            let place = try self.offset(offset, plus: done)
            return unsafe vault_pread(descriptor, memory, count, place)
        }
    }

    /// Reads from `offset` until the span is full or the file ends; returns the number of bytes.
    public func read(into span: inout MutableSpan<UInt8>, at offset: UInt64) throws(VaultError) -> Int {
        try unsafe span.withUnsafeMutableBytes { (memory) throws(VaultError) in
            try unsafe loop(memory) { (memory, count, done) throws(VaultError) in
                let place = try self.offset(offset, plus: done)
                return unsafe vault_pread(descriptor, memory, count, place)
            }
        }
    }

    /// Exactly `count` bytes from `offset`. Throws `.corrupt` when the file ends before that, without allocating memory
    /// for missing bytes.
    public func readExactly(_ count: Int, at offset: UInt64) throws(VaultError) -> [UInt8] {
        let size = try status().size
        guard let wanted = UInt64(exactly: count), offset <= size, wanted <= size - offset else {
            throw endsEarly(count, at: offset)
        }
        var bytes: [UInt8] = []
        guard try read(into: &bytes, upTo: count, at: offset) == count else {
            throw endsEarly(count, at: offset)
        }
        return bytes
    }

    /// Passes a part of the file to `body` in blocks of at most 1 MiB with their offsets, up to the end of the file.
    public func forEachBlock(
        of range: Range<UInt64>, _ body: (Span<UInt8>, _ offset: UInt64) throws(VaultError) -> Void
    ) throws(VaultError) {
        var block: [UInt8] = []
        var offset = range.lowerBound
        while offset < range.upperBound,
            try read(into: &block, upTo: Int(min(range.upperBound - offset, 1 << 20)), at: offset) > 0
        {
            try body(block.span, offset)
            offset += UInt64(block.count)
        }
    }

    /// The whole content. Throws `.corrupt` when it has more than `limit` bytes, without reading them where the file says so.
    public func readAll(limit: Int) throws(VaultError) -> [UInt8] {
        let limit = min(max(limit, 0), .max - 1)
        var bytes: [UInt8] = []
        var count = try Int(clamping: status().size)
        // One extra byte shows the end of the file, even if the file grows or hides its size.
        while count <= limit {
            guard try read(into: &bytes, upTo: count + 1, at: 0) > count else { return bytes }
            guard bytes.count <= limit else { break }
            count = min(bytes.count * 2, limit)
        }
        throw VaultError(
            .corrupt, "is larger than the limit of \(limit) bytes", at: path.string,
            remedy: "check that this is the right file")
    }

    /// Replaces the content of `buffer` by the next `count` bytes of a pipe or file, or fewer at its end; returns their
    /// number. Blocks until then.
    @discardableResult
    public func readNext(into buffer: inout [UInt8], upTo count: Int) throws(VaultError) -> Int {
        buffer.removeAll(keepingCapacity: true)
        return try unsafe fill(&buffer, upTo: count) { (memory, count, _) throws(VaultError) in
            unsafe vault_read(descriptor, memory, count)
        }
    }

    /// Reads the next bytes of a pipe or file until the span is full or the input ends.
    public func readNext(into span: inout MutableSpan<UInt8>) throws(VaultError) -> Int {
        try unsafe span.withUnsafeMutableBytes { (memory) throws(VaultError) in
            try unsafe loop(memory) { (memory, count, _) throws(VaultError) in
                unsafe vault_read(descriptor, memory, count)
            }
        }
    }

    /// `offset + done` as the system's type.
    func offset(_ offset: UInt64, plus done: Int) throws(VaultError) -> Int64 {
        let (sum, overflow) = offset.addingReportingOverflow(UInt64(done))
        guard !overflow, let place = Int64(exactly: sum) else {
            throw VaultError(
                .io, "the offset \(offset) is too large for a file", at: path.string,
                remedy: "check the sizes")
        }
        return place
    }

    /// Appends up to `count` bytes without zero-filling the memory first, which would take much of the time on fast
    /// disks.
    private func fill(
        _ buffer: inout [UInt8], upTo count: Int,
        _ call: (UnsafeMutableRawPointer, Int, Int) throws(VaultError) -> Int
    ) throws(VaultError) -> Int {
        // An empty append would make the standard library write to the storage shared by all empty arrays: a data race.
        guard count > 0 else { return 0 }
        let before = buffer.count
        try buffer.append(addingCapacity: count) { (free) throws(VaultError) in
            try unsafe free.withUnsafeMutableBufferPointer { (memory, initialized) throws(VaultError) in
                initialized = try unsafe loop(UnsafeMutableRawBufferPointer(memory), call)
            }
        }
        return buffer.count - before
    }

    /// Repeats a read call until the memory is full or the input ends.
    private func loop(
        _ memory: UnsafeMutableRawBufferPointer,
        _ call: (UnsafeMutableRawPointer, Int, Int) throws(VaultError) -> Int
    ) throws(VaultError) -> Int {
        guard let start = memory.baseAddress else { return 0 }
        var done = 0
        while done < memory.count {
            let got = try check(
                unsafe call(start + done, memory.count - done, done), .reading, "read", path)
            if got == 0 { break }
            done += got
        }
        return done
    }

    private func endsEarly(_ count: Int, at offset: UInt64) -> VaultError {
        VaultError(
            .corrupt, "ends before the \(count) bytes at offset \(offset)", at: path.string,
            remedy: "download the file again")
    }
}

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

    /// Frees the disk space of `range`, which becomes a hole; the size stays. False where the file system can't do that.
    public func punchHole(in range: Range<UInt64>) throws(VaultError) -> Bool {
        guard !range.isEmpty else { return true }
        let start = try offset(range.lowerBound, plus: 0)
        let result = vault_punch_hole(descriptor, start, try offset(UInt64(range.count), plus: 0))
        if result == -EOPNOTSUPP || result == -ENOSYS { return false }
        try check(result, .changing, "free \(range.count) bytes", path)
        return true
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

/// Finds written parts of a sparse file. A hint: a file system may report a hole as data, but never data as a hole.
extension OpenFile {
    /// The parts of `range` with data, in order; all of it if the file system does not report holes.
    public func dataRanges(in range: Range<UInt64>) throws(VaultError) -> [Range<UInt64>] {
        var found: [Range<UInt64>] = []
        var position = range.lowerBound
        while position < range.upperBound {
            let data = vault_seek_data(descriptor, try offset(position, plus: 0))
            if data == -Int64(ENXIO) { break }
            if data == -Int64(EINVAL) || data == -Int64(EOPNOTSUPP) { return [range] }
            let start = try UInt64(clamping: check(data, .reading, "look for data", path))
            guard start < range.upperBound else { break }
            let hole = vault_seek_hole(descriptor, try offset(start, plus: 0))
            let end = try UInt64(clamping: check(hole, .reading, "look for holes", path))
            // Another process may have truncated the file.
            guard end > start else { break }
            found.append(max(start, position)..<min(end, range.upperBound))
            position = end
        }
        return found
    }

    /// Bytes with data, as ``dataRanges(in:)`` finds them.
    public var dataLength: UInt64 {
        get throws(VaultError) {
            try dataRanges(in: 0..<status().size).reduce(0) { $0 + UInt64($1.count) }
        }
    }

    /// Whether the file has holes, as far as the file system says so.
    public var hasHoles: Bool {
        get throws(VaultError) {
            let hole = vault_seek_hole(descriptor, 0)
            // The end of the file counts as one. An error: the file system does not report holes, or the file is empty.
            guard hole >= 0 else { return false }
            return try UInt64(hole) < status().size
        }
    }
}

extension OpenFile {
    /// Copies all bytes to an empty file; holes stay holes. Throws `.diskFull`, `.io`.
    public func copyContent(to copy: borrowing OpenFile) throws(VaultError) {
        let size = try status().size
        let data = try dataRanges(in: 0..<size)
        // So that a full disk is detected early.
        if data == [0..<size] { try copy.allocate(size) }
        for range in data {
            try forEachBlock(of: range) { block, offset throws(VaultError) in
                try copy.write(block, at: offset)
            }
        }
        // The source may have shrunk since.
        try copy.truncate(to: min(size, status().size))
    }
}

/// Starts writing a file's data to the disk, some MiB at a time, so that `synchronize()` has less to wait for.
public struct WriteBehind: Sendable {
    private static let length = 8 << 20
    /// Written, but not passed to the disk yet.
    private var pending: Range<UInt64> = 0..<0

    public init() {}

    /// Records a written range, preferably in ascending order.
    public mutating func note(_ written: Range<UInt64>, in file: borrowing OpenFile) {
        let joined =
            min(pending.lowerBound, written.lowerBound)..<max(pending.upperBound, written.upperBound)
        guard !pending.isEmpty, joined.count > Self.length else {
            pending = pending.isEmpty ? written : joined
            return
        }
        file.beginWritingBack(pending)
        pending = written
    }
}
