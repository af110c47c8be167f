import VaultArchive
import VaultErrors
import VaultFileSystem

/// Cuts the stream of all files' bytes into pieces: small files are grouped, large ones are cut by content.
/// What a piece holds depends on the files in it and on the content key, never on what stands elsewhere.
struct PieceCutter: ~Copyable {
    private let gear: GearHash
    private var groupCut: GroupCut
    private var nextEntry = 0
    private var large: LargeFileReader?
    private var group: [UInt8] = []

    init(key: ContentKey) throws(VaultError) {
        let gear = try GearHash(key: key.cutKey)
        let groupCut = try GroupCut(key: key.cutKey)
        self.gear = gear
        self.groupCut = groupCut
    }

    /// The plaintext of the next piece, or nil when all files were read.
    mutating func next(from source: borrowing SourceFolder) throws(VaultError) -> [UInt8]? {
        if let piece = try large?.next(cutBy: gear) { return piece }
        large = nil
        while nextEntry < source.entries.count {
            let entry = source.entries[nextEntry]
            if entry.size >= UInt64(GroupCut.smallFile) {
                if !group.isEmpty { return takeGroup() }
                nextEntry += 1
                var reader = LargeFileReader(try source.open(entry), size: entry.size)
                let piece = try reader.next(cutBy: gear)
                large = consume reader
                return piece
            }
            if entry.size > 0 {
                let size = Int(entry.size)
                if !group.isEmpty,
                    group.count + size > GroupCut.maximumGroup || groupCut.startsGroup(entry.path)
                {
                    return takeGroup()
                }
                // One byte more than listed, to see a file that has grown.
                guard try source.open(entry).append(to: &group, upTo: size + 1, at: 0) == size else {
                    throw sourceChanged(entry.path.string)
                }
            }
            nextEntry += 1
        }
        return group.isEmpty ? nil : takeGroup()
    }

    private mutating func takeGroup() -> [UInt8] {
        defer { group = [] }
        return group
    }
}
