import SealedPack
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

/// Verification of a pack without any key.
@Suite struct PackVerificationTests {
    private let sealed: Sealed
    private let place: PackPlace

    init() async throws {
        sealed = try await seal(try Source.small(), key: try await TestKey().contentKey())
        place = try PackPlace()
    }

    private func check(_ bytes: [UInt8], as manifest: PackManifest? = nil) async throws -> PackVerification {
        try place.store(bytes)
        return try await PackFile(opening: place.path, as: manifest).check()
    }

    @Test func soundPackPasses() async throws {
        for manifest in [nil, sealed.manifest] {
            let check = try await check(sealed.bytes, as: manifest)
            #expect(check.isSound)
        }
    }

    /// Changes the first, second, middle and last byte of each piece.
    @Test func damagedPiecesAreFound() async throws {
        var start = 64
        for (number, piece) in sealed.parts.pieces.enumerated() {
            for offset in [0, 1, piece.count / 2, piece.count - 1] {
                var bytes = sealed.bytes
                bytes[start + offset] ^= 0x10
                let check = try await check(bytes)
                #expect(check.damagedPieces == [number])
                #expect(check.isCatalogSound)
            }
            start += piece.count
        }
    }

    @Test func severalDamagedPiecesAreFound() async throws {
        var parts = sealed.parts
        let last = parts.pieces.count - 1
        parts.pieces[0][3] ^= 1
        parts.pieces[last][3] ^= 1
        parts.catalog[9] ^= 1
        let check = try await check(parts.bytes)
        #expect(check.damagedPieces == [0, last])
        #expect(!check.isCatalogSound && !check.isSound)
    }

    @Test func everyChangedByteOfTheTailIsFound() async throws {
        let parts = sealed.parts
        let index = 64 + parts.pieces.joined().count
        for offset in index..<sealed.bytes.count {
            var bytes = sealed.bytes
            bytes[offset] ^= 1
            let catalog = index + parts.index.count
            if (catalog..<(catalog + parts.catalog.count)).contains(offset) {
                let check = try await check(bytes)
                #expect(!check.isCatalogSound && check.damagedPieces.isEmpty)
            } else if offset < catalog
                || !(sealed.bytes.count - 64..<sealed.bytes.count - 32).contains(offset)
            {
                // The index, and the footer without the catalog's digest.
                await expectError { try await check(bytes) }
            } else {
                #expect(try await !check(bytes).isCatalogSound)
            }
        }
    }

    @Test func emptyPackPasses() async throws {
        let empty = try await seal(Source(), key: try await TestKey().contentKey())
        let check = try await check(empty.bytes)
        #expect(check.isSound)
    }
}
