import Glibc
import SealedPack
import SystemPackage
import Testing
import VaultBase
import VaultCrypto
import VaultFileSystem

@testable import AssetVault

/// Forged packs in shared storage cost a run little, and never keep it from downloading.
@Suite(.timeLimit(.minutes(5))) struct ReuseBudgetTests {
    let world: World
    let pack: PackManifest
    /// The file that the host has.
    let bytes: [UInt8]
    private var layout: StoreLayout { world.layout }

    init() async throws {
        world = try await World.withPacks()
        pack = try await world.client().pack(withID: .one)
        bytes = try world.hosted(pack)
    }

    private func folder(of id: String) throws -> FilePath {
        let folder = layout.packs.pushing(FilePath(id))
        try FileSystem.createFolders(folder, permissions: 0o700)
        return folder
    }

    /// A pack of which only the index is not full of zeros, in the folder of a pack that waits.
    @discardableResult
    private func forge(records: UInt32, as id: String = World.id) throws -> FilePath {
        var index: [UInt8] = []
        let count = try #require(Cobblestone256.sealedLength(ofMessage: 2))
        for number in 0..<records {
            let digest = SHA256.hash(Array("\(id) \(records) \(number)".utf8).span)
            IndexRecord(ciphertextLength: UInt32(count), digest: digest).append(to: &index)
        }
        let offset = UInt64(PackHeader.length) + UInt64(records) * count
        let catalog: UInt64 = 100
        let length = offset + UInt64(index.count) + catalog + UInt64(PackFooter.length)
        let parts = try PackLayout(
            packLength: length, pieceCount: records, catalogLength: catalog, place: "test")
        let digest = SHA256.hash(index.span)
        let footer = PackFooter(layout: parts, indexDigest: digest, catalogDigest: digest).bytes
        let name = "@\(SHA256.hash((index + [1]).span).hex).avpack"
        let path = try folder(of: id).appending(name)
        try write(
            [
                0: Array(bytes.prefix(PackHeader.length)), offset: index,
                length - UInt64(footer.count): footer,
            ],
            to: path)
        return path
    }

    /// A file with holes between some parts.
    private func write(_ parts: [UInt64: [UInt8]], to path: FilePath) throws {
        let file = OpenFileReference(try OpenFile(creating: path, permissions: 0o600))
        for (offset, part) in parts { try file.file.write(part.span, at: offset) }
    }

    /// The published pack with some of its bytes changed, in the same place.
    private func putWaiting(changing places: some Sequence<Int>) throws {
        _ = try folder(of: World.id)
        var changed = bytes
        for place in places { changed[place] ^= 1 }
        try write([0: changed], to: layout.waitingPack(pack))
    }

    private func pieces(within budget: ReuseBudget) -> ReusablePieces {
        ReusablePacks(layout, within: budget).pieces(
            of: pack, besides: layout.partialDownload(of: pack), restingOn: nil, hasOthers: false)
    }

    @Test func theBudgetEnds() throws {
        for count in 400..<404 { try forge(records: UInt32(count)) }
        // One reading for the directory of pieces, and one for the pieces.
        #expect(pieces(within: ReuseBudget()).versions.count == 4)
        #expect(pieces(within: ReuseBudget(records: 2420)).versions.count == 2)
        #expect(pieces(within: ReuseBudget(records: 1700)).versions.isEmpty)
        #expect(!pieces(within: ReuseBudget(records: 300)).hasSources)
    }

    /// What is published is read whatever the budget is; a small budget ends with what was made up.
    @Test func aKnownPackIsFree() throws {
        for count in 400..<410 { try forge(records: UInt32(count)) }
        try putWaiting(changing: [])
        let found = pieces(within: ReuseBudget(records: 0))
        #expect(found.hasSources && found.versions.count == 1)
        #expect(found.versions.first?.pack.length == pack.length)
    }

    /// Under the name of a known pack.
    @Test func aForgedIndexUnderAKnownName() throws {
        let forged = try forge(records: 300)
        #expect(unsafe rename(forged.string, layout.waitingPack(pack).string) == 0)
        #expect(!pieces(within: ReuseBudget(records: 299)).hasSources)
    }

    @Test func aFileWithSeveralNamesCountsOnce() throws {
        let path = try forge(records: 400, as: "a")
        #expect(unsafe symlink("a", layout.packs.appending("b").string) == 0)
        let budget = ReuseBudget(records: 800)
        let owners = try Set(["a", "b"].map { try PackID($0) })
        _ = PackFamily(of: owners, under: pack.contentKeyID, in: layout, within: budget)
        let opened = try PackFile(opening: path, as: nil)
        #expect(budget.takeIndex(of: opened, of: nil, named: nil))
        #expect(!budget.takeIndex(of: opened, of: nil, named: nil))
    }

    @Test func aSourceIsGivenUp() throws {
        try putWaiting(changing: [])
        let source = try #require(pieces(within: ReuseBudget()).versions.first)
        let range: Range<UInt64> = 64..<200
        for _ in 0..<10 { source.noteVerification(of: range, isSound: true) }
        for _ in 0..<25 { source.noteVerification(of: range, isSound: false) }
        #expect(source.has(pieceAt: range))
        source.noteVerification(of: range, isSound: false)
        #expect(!source.has(pieceAt: range))
        // Another core may still have verified a right one.
        source.noteVerification(of: range, isSound: true)
        #expect(!source.has(pieceAt: range))
    }

    /// So many wrong bytes that no other source is read.
    @Test func allSourcesAreGivenUp() throws {
        try putWaiting(changing: [])
        let budget = ReuseBudget(wrongBytes: 1000)
        let source = try #require(pieces(within: budget).versions.first)
        source.noteVerification(of: 0..<999, isSound: false)
        #expect(source.has(pieceAt: 64..<200) && pieces(within: budget).hasSources)
        source.noteVerification(of: 0..<1, isSound: false)
        #expect(!source.has(pieceAt: 64..<200) && !pieces(within: budget).hasSources)
    }

    /// With forged indexes, and with the published one, whose pieces are wrong.
    @Test(arguments: [PackForm.opened, .sealed]) func theDownloadGoesOn(form: PackForm) async throws {
        for count in 0..<6 { try forge(records: 20_000 + UInt32(count)) }
        try putWaiting(changing: stride(from: 64, to: bytes.count - 20_000, by: 1000))
        let client = try world.client { $0.form = form }
        _ = try await client.fetch()
        #expect(try await client.store.contents(of: EntryPath("noise"), in: .one) == World.one)
    }
}
