import SealedPack
import Testing
import VaultBase
import VaultFileSystem

/// A pack that a host, disk or network damaged does not open, and yields no wrong byte.
@Suite struct DamageTests {
    private let key: ContentKey
    private let other: ContentKey
    private let sealed: Sealed
    private let content: [UInt8]
    private let place: PackPlace

    init() async throws {
        key = try await TestKey().contentKey()
        other = try await TestKey(8).contentKey()
        sealed = try await seal(try Source.small(), key: key)
        content = try Source.small().content
        place = try PackPlace()
    }

    @Test func undamagedPackOpens() async throws {
        #expect(sealed.parts.pieces.count >= 3)
        let codecs = try sealed.parts.pieces.map { piece in
            try TestKey().opened(piece, context: Array("assetvault/v1/piece".utf8), under: "piece").first
        }
        #expect(Set(codecs) == [0, 1])
        for manifest in [nil, sealed.manifest.json] {
            let entries = try await place.read(sealed.bytes, as: manifest, with: key)
            #expect(entries.flatMap(\.bytes) == content)
            #expect(entries.count == 38)
        }
    }

    @Test func everyChangedByteIsRefused() async throws {
        for index in sealed.bytes.indices {
            var bytes = sealed.bytes
            bytes[index] ^= 1 << UInt8(index % 8)
            await place.expectRefusal(
                bytes, with: key, content: content, (16..<32).contains(index) ? .key : .corrupt,
                "byte \(index)")
            await place.expectRefusal(
                bytes, as: sealed.manifest.json, with: key, content: content, .corrupt, "byte \(index)")
        }
    }

    @Test func everyTruncationIsRefused() async throws {
        for count in sealed.bytes.indices {
            await place.expectRefusal(
                Array(sealed.bytes.prefix(count)), asEachOf: [nil, sealed.manifest.json], with: key,
                content: content, "\(count) bytes")
        }
    }

    @Test(arguments: [1, 36, 127, 128, 4_096])
    func extendedFilesAreRefused(by count: Int) async throws {
        for bytes in [
            sealed.bytes + [UInt8](repeating: 0, count: count), sealed.bytes + sealed.bytes.suffix(count),
            sealed.bytes.prefix(count) + sealed.bytes,
        ] {
            await place.expectRefusal(
                bytes, asEachOf: [nil, sealed.manifest.json], with: key, content: content)
        }
    }

    @Test(arguments: [
        (8, "version"), (9, "version"), (10, "suite"), (11, "suite"), (0, "not an asset pack"),
        (15, "reserved"),
        (32, "reserved"), (63, "reserved"),
    ])
    func headerErrorNamesTheProblem(byte: Int, word: String) async {
        var bytes = sealed.bytes
        bytes[byte] ^= 0x82
        await expectError(.corrupt, word) { try place.open(bytes, with: key) }
    }

    @Test func wrongKeyIsAKeyError() async throws {
        await place.expectRefusal(sealed.bytes, with: other, .key)
        await place.expectRefusal(sealed.bytes, as: sealed.manifest.json, with: other, .key)
    }

    /// Truncating a file under its reader must not trap.
    @Test func truncationWhileReadingIsAnError() async throws {
        let pack = try place.open(sealed.bytes, with: key)
        let file = try OpenFile(updating: place.path)
        for count in stride(from: sealed.bytes.count - 1, through: 0, by: -97) {
            try file.truncate(to: UInt64(count))
            var sink = MemorySink()
            do throws(VaultError) {
                try await pack.extract(to: &sink)
                #expect(count >= 64 + sealed.parts.pieces.joined().count)
            } catch {
                #expect(error.category == .corrupt)
                #expect(content.starts(with: sink.content))
            }
        }
    }
}
