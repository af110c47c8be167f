import Testing
import VaultBase
import VaultCrypto

@testable import SealedPack
@testable import VaultAuthoring

/// A catalog too large for a client's memory is not sealed.
@Suite struct CatalogSizeTests {
    /// 16 segments of 255 bytes or fewer, 4,096 bytes in all.
    private func path(_ number: Int) throws -> EntryPath {
        let name = String(String(100_000 + number).suffix(5))
        return try EntryPath(
            ([name + String(repeating: "n", count: 250)]
                + [String](repeating: String(repeating: "n", count: 255), count: 15)).joined(separator: "/"))
    }

    @Test func morePathsThan64MiBAreRefused() async throws {
        var catalog = CatalogBuilder()
        let error = await expectError(.usage, "64 MiB") {
            for number in 0..<(1 << 14) { try catalog.appendEntry(try path(number), kind: .file, size: 0) }
        }
        #expect(error?.remedy.contains("several packs") == true)
        // 16,384 paths would have been 64 MiB without any record.
        #expect(catalog.entryCount > 16_200)
    }

    @Test func tooManyPiecesAreRefused() throws {
        var catalog = CatalogBuilder()
        let digest = SHA256.hash([UInt8]().span)
        #expect(throws: VaultError.self) {
            for _ in 0..<FormatLimits.maximumPieces { try catalog.appendPiece(count: 1, digest: digest) }
        }
        #expect(catalog.pieceCount > 1_600_000)
    }
}
