import PackSources
import SealedPack
import VaultBytes
import VaultContent
import VaultCrypto
import VaultErrors

/// Which small files share a piece. A run of neighbours is split between the two least similar ones, and so are its
/// parts, until no group is too large. So a changed, added or removed file changes only the groups next to it, and
/// equal folders have equal groups.
struct FileGroups: ~Copyable {
    /// Files below this size share pieces with their neighbours.
    static let smallFile: UInt64 = 8 << 10
    /// The largest size of a group of several files.
    static let maximumGroup = 32 << 10

    /// A file of the run, by the number of its entry.
    struct Member {
        let entry: UInt32
        let count: UInt16
        /// Similarity to the previous file: the number of folders they share, then a keyed hash.
        let similarity: UInt64
    }

    private var authenticator: HMACSHA256
    private var run: [Member] = []
    /// Parts of the run that may have to be split, in reverse order.
    private var parts: [Range<Int>] = []

    init(key: borrowing SecretBytes) throws(VaultError) {
        authenticator = HMACSHA256(key: key)
    }

    /// Begins the run of small files at `start`, without empty ones. Returns its end.
    mutating func begin(at start: Int, in entries: SourceFolder.Entries) -> Int {
        run.removeAll(keepingCapacity: true)
        var previous: [UInt8] = []
        var index = start
        while index < entries.count {
            let entry = entries[index]
            guard entry.size < Self.smallFile else { break }
            if entry.size > 0 {
                let path = entry.path.utf8Bytes
                run.append(
                    Member(
                        entry: UInt32(index), count: UInt16(entry.size),
                        similarity: similarity(of: path.span, after: previous.span)))
                previous = path
            }
            index += 1
        }
        if !run.isEmpty { parts = [run.indices] }
        return index
    }

    /// The next group of the run; nil after the last one.
    mutating func next() -> ArraySlice<Member>? {
        while let part = parts.popLast() {
            let size = run[part].reduce(0) { $0 + Int($1.count) }
            guard part.count > 1, size > Self.maximumGroup else { return run[part] }
            var cut = part.lowerBound + 1
            for index in part.dropFirst(2) where run[index].similarity < run[cut].similarity { cut = index }
            parts.append(cut..<part.upperBound)
            parts.append(part.lowerBound..<cut)
        }
        return nil
    }

    /// `folders u8 || hash 56 bits`, of two neighbours in one run: how many leading folders their paths share, and the
    /// beginning of HMAC-SHA-256(cut key, "path" || 0x00 || name), the name being the first one of `path` that differs.
    private mutating func similarity(of path: Span<UInt8>, after previous: Span<UInt8>) -> UInt64 {
        let slash = UInt8(ascii: "/")
        var folders: UInt64 = 0
        var start = 0
        for index in 0..<path.commonPrefixLength(with: previous) where path[index] == slash {
            folders += 1
            start = index + 1
        }
        var message = Array("path".utf8) + [0]
        var end = start
        while end < path.count, path[end] != slash {
            message.append(path[end])
            end += 1
        }
        let hash = authenticator.authenticate(message.span).prefix
        return folders << 56 | hash >> 8
    }
}
