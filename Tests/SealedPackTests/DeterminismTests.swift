import Foundation
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase

/// The same content, key and version give the same bytes, wherever and whenever they are sealed.
@Suite struct DeterminismTests {
    private let key: ContentKey
    private let source: Source

    init() async throws {
        key = try await TestKey().contentKey()
        var source = try Source.small()
        source.files["large"] = noise(700_000)
        source.files["world"] = prose(300_000)
        self.source = source
    }

    @Test func sealingTwiceGivesEqualBytes() async throws {
        let first = try await seal(source, key: key)
        for _ in 0..<3 {
            let again = try await seal(source, key: key)
            #expect(again.bytes == first.bytes)
            #expect(again.manifest == first.manifest)
        }
        // Other keys, versions and IDs give other bytes.
        #expect(try await seal(source, key: try await TestKey(8).contentKey()).bytes != first.bytes)
        #expect(try await seal(source, key: key, .exactly(2)).bytes != first.bytes)
        #expect(try await seal(source, key: key, id: "levels/two").bytes != first.bytes)
    }

    @Test func orderAndTimesOfFilesDoNotMatter() async throws {
        let paths = source.files.keys.sorted()
        let folder = try TemporaryFolder()
        let forwards = try source.write(to: folder, as: "one", order: paths)
        let backwards = try source.write(to: folder, as: "two", order: paths.reversed())
        for path in paths {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)],
                ofItemAtPath: backwards.appending(path).string)
        }
        let first = try await seal(folder: forwards, key: key)
        #expect(try await seal(folder: backwards, key: key).bytes == first.bytes)
    }

    @Test func slotsAndOfferAreNotInThePack() async throws {
        let slot = try KeySlot(wrapping: key, under: try vaultKey("first", seed: 1))
        let plain = try await seal(source, key: key)
        let slotted = try await seal(source, key: key, slots: [slot])
        #expect(plain.bytes == slotted.bytes)
        #expect(plain.manifest != slotted.manifest)
    }

    @Test func modeIsPartOfTheContent() async throws {
        var changed = source
        changed.executables = []
        #expect(try await seal(changed, key: key).bytes != (try await seal(source, key: key).bytes))
    }

    /// Equal pieces have equal ciphertexts; different ones have different salts, the first 24 bytes.
    @Test func differentMessagesHaveDifferentSalts() async throws {
        var source = source
        source.files["large2"] = source.files["large"]
        let pieces = try await seal(source, key: key).parts.pieces
        #expect(Set(pieces).count < pieces.count)
        #expect(Set(pieces.map { $0.prefix(24) }).count == Set(pieces).count)
    }
}
