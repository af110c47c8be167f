internal import CVaultSystem
internal import SystemPackage
public import VaultErrors

/// Finds written parts of a sparse file. A hint: a file system may report a hole as data, but never data as a hole.
extension OpenFile {
    /// The parts of `range` with data, in order; all of it where the file system can't tell.
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
}
