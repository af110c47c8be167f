import PackSources
import SealedPack
import VaultContent
import VaultErrors
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
