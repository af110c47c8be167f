import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Cuts the stream of all files' bytes into pieces: small files are grouped, large ones are cut by content.
/// A piece's content depends only on the files in it and next to it, and on the content key.
struct PieceCutter: ~Copyable {
    private let entries: SourceFolder.Entries
    private var files: SourceReader
    private let gear: GearHash
    private var groups: FileGroups
    private var nextEntry = 0
    private var large: LargeFileReader?

    init(_ source: borrowing SourceFolder, key: ContentKey) throws(VaultError) {
        let files = try SourceReader(of: source)
        let gear = try GearHash(key: key.cutKey)
        let groups = try FileGroups(key: key.cutKey)
        self.entries = source.entries
        self.files = files
        self.gear = gear
        self.groups = groups
    }

    /// The plaintext of the next piece, or nil when all files were read.
    mutating func next() throws(VaultError) -> [UInt8]? {
        if let piece = try large?.next(cutBy: gear) { return piece }
        large = nil
        while true {
            if let group = groups.next() { return try read(group) }
            guard nextEntry < entries.count else { return nil }
            let entry = entries[nextEntry]
            if entry.size >= FileGroups.smallFile {
                nextEntry += 1
                var reader = LargeFileReader(try files.open(entry), size: entry.size)
                let piece = try reader.next(cutBy: gear)
                large = consume reader
                return piece
            }
            nextEntry = groups.begin(at: nextEntry, in: entries)
        }
    }

    private mutating func read(_ group: ArraySlice<FileGroups.Member>) throws(VaultError) -> [UInt8] {
        var piece: [UInt8] = []
        piece.reserveCapacity(group.reduce(1) { $0 + Int($1.count) })
        for member in group {
            let entry = entries[Int(member.entry)]
            let count = Int(member.count)
            // One byte more than scanned, to detect a file that has grown.
            guard try files.open(entry).append(to: &piece, upTo: count + 1, at: 0) == count else {
                throw sourceChanged(entry.path.string)
            }
        }
        return piece
    }
}

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

/// The keyed rolling hash that cuts large files by content: a gear hash (Xia et al., FastCDC, USENIX ATC 2016)
/// whose table is secret, so that cut points reveal nothing about known content.
///
/// The hash after byte `b` is `(hash << 1) + table[b]` modulo 2^64; a cut follows a byte after which it is below
/// `threshold`. It depends on the last 64 bytes only.
struct GearHash: Sendable {
    static let minimumPiece = 32 << 10
    static let maximumPiece = 512 << 10
    /// One cut in 96 KiB after the minimum, 128 KiB a piece on average.
    static let threshold = UInt64.max / (96 << 10)

    /// `table[b]` is the first 8 bytes, big-endian, of HMAC-SHA-256(cut key, "gear" || 0x00 || b).
    private let table: [UInt64]

    init(key: borrowing SecretBytes) throws(VaultError) {
        var authenticator = HMACSHA256(key: key)
        var table = [UInt64](repeating: 0, count: 256)
        for byte in 0...255 {
            let message = Array("gear".utf8) + [0, UInt8(byte)]
            table[byte] =
                authenticator.authenticate(message.span).bytes.span.bigEndian(UInt64.self, at: 0) ?? 0
        }
        self.table = table
    }

    /// The state of the search for a piece's end.
    struct Search {
        /// The hash depends on 64 bytes only: that many before the first possible cut are enough.
        fileprivate var position = minimumPiece - 64
        fileprivate var hash: UInt64 = 0
    }

    /// The length of the piece at the start of `content`; nil when the search needs more bytes appended to it.
    func pieceCount(of content: Span<UInt8>, _ search: inout Search) -> Int? {
        // Accessing the table through `self` would copy it for each byte.
        let table = table.span
        let end = min(content.count, Self.maximumPiece)
        var (position, hash) = (search.position, search.hash)
        while position < min(end, Self.minimumPiece) {
            hash = (hash << 1) &+ table[Int(content[position])]
            position += 1
        }
        while position < end {
            hash = (hash << 1) &+ table[Int(content[position])]
            position += 1
            if hash < Self.threshold { return position }
        }
        search = Search(position: position, hash: hash)
        return end == Self.maximumPiece ? end : nil
    }
}

/// Reads one large file front to back and cuts it by content. Only the bytes read beyond a piece's end, less than
/// `readLength`, are copied to the next piece.
struct LargeFileReader: ~Copyable {
    private static let readLength = 64 << 10

    private let file: OpenFile
    private let size: UInt64
    private var readEnd: UInt64 = 0
    /// Bytes read that belong to the next piece.
    private var rest: [UInt8] = []

    init(_ file: consuming OpenFile, size: UInt64) {
        self.file = file
        self.size = size
    }

    /// The next piece, or nil after the last one. Throws `.io` when the length has changed since the scan.
    mutating func next(cutBy gear: borrowing GearHash) throws(VaultError) -> [UInt8]? {
        var piece: [UInt8] = []
        piece.reserveCapacity(3 * Self.readLength)
        piece += rest
        rest.removeAll(keepingCapacity: true)
        var search = GearHash.Search()
        while true {
            if let count = gear.pieceCount(of: piece.span, &search) {
                rest += piece[count...]
                piece.removeLast(piece.count - count)
                return piece
            }
            guard try readOn(behind: &piece) else { return piece.isEmpty ? nil : piece }
        }
    }

    /// False at the end of the file.
    private mutating func readOn(behind piece: inout [UInt8]) throws(VaultError) -> Bool {
        let isEnd = readEnd == size
        let wanted = isEnd ? 1 : Int(min(UInt64(Self.readLength), size - readEnd))
        // Bytes after the end mean that the file has changed.
        guard try file.append(to: &piece, upTo: wanted, at: readEnd) == (isEnd ? 0 : wanted) else {
            throw sourceChanged(file.path.string)
        }
        if !isEnd { readEnd += UInt64(wanted) }
        return !isEnd
    }
}

func sourceChanged(_ place: String) -> VaultError {
    VaultError(
        .io, "the file changed while it was being sealed", at: place,
        remedy: "seal again when nothing writes to it")
}
