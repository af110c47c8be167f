import VaultCrypto
public import VaultErrors
import VaultFileSystem
public import VaultKeys

/// A pack that is read with its content key: its index and catalog are verified, its pieces are verified as they are
/// read. Many tasks may read at once.
public final class OpenPack: Sendable {
    public let catalog: Catalog
    public let id: PackID
    public let version: UInt64
    public let pack: PackFile
    package let key: ContentKey

    public var manifest: PackManifest? { pack.manifest }

    private let ranges: PieceRanges

    /// Throws `.key` when `key` is another pack's, `.corrupt` when the parts do not match.
    public init(_ pack: PackFile, key: ContentKey) throws(VaultError) {
        func refuse(_ problem: String) -> VaultError {
            VaultError(.corrupt, problem, at: pack.place, remedy: "use the pack with its own manifest")
        }
        guard key.id == pack.header.contentKeyID else {
            throw VaultError(
                .key, "the content key is another pack's", at: pack.place,
                remedy: "inject the key that the pack was sealed for")
        }
        let unverified = try UnverifiedCatalog(
            parsing: CatalogMessage.open(of: pack, key: key), place: pack.place)
        if let manifest = pack.manifest {
            guard unverified.id == manifest.id, unverified.version == manifest.version else {
                throw refuse("the catalog is that of \(unverified.id) version \(unverified.version)")
            }
        }
        catalog = try unverified.verified(pieceCount: pack.pieceCount, indexDigest: pack.footer.indexDigest)
        if let manifest = pack.manifest {
            guard manifest.openedSize == catalog.contentLength else {
                throw refuse("the opened size differs from the manifest")
            }
            guard manifest.entryCount == catalog.entryCount else {
                throw refuse("the number of files differs from the manifest")
            }
        }
        id = unverified.id
        version = unverified.version
        ranges = try PieceRanges(of: pack)
        self.pack = pack
        self.key = key
    }

    /// Finds the pack's content key among `keys`, by its own ID or in the manifest's slots.
    public convenience init(_ pack: PackFile, keys: any KeyProvider) async throws(VaultError) {
        let key = try await keys.contentKey(
            pack.contentKeyID, slots: pack.manifest?.slots ?? [], place: pack.place)
        try self.init(pack, key: key)
    }

    /// The unverified ciphertext of piece `number`.
    func ciphertext(ofPiece number: Int) throws(VaultError) -> [UInt8] {
        let range = ranges[number]
        guard !range.isEmpty else { throw damaged(number) }
        return try pack.file.readExactly(range.count, at: range.lowerBound)
    }

    /// The byte ranges of pieces in the file, adjacent ones joined; numbers must be ascending.
    public func byteRanges(ofPieces numbers: [Int]) -> [Range<UInt64>] {
        numbers.reduce(into: []) { byteRanges, number in
            let range = ranges[number]
            if let last = byteRanges.last, last.upperBound == range.lowerBound {
                byteRanges[byteRanges.count - 1] = last.lowerBound..<range.upperBound
            } else if !range.isEmpty {
                byteRanges.append(range)
            }
        }
    }

    /// The memory for opening a piece: ciphertext, message, plaintext and zstd's window.
    func openingMemory(ofPiece number: Int) -> Int {
        2 * ranges[number].count + 2 * catalog.pieceRange(number).count
    }

    /// Decrypts a piece and verifies its length and digest by the catalog.
    func plaintext(ofPiece number: Int, ciphertext: [UInt8]) throws(VaultError) -> ArraySlice<UInt8> {
        let range = catalog.pieceRange(number)
        let count = Int(range.upperBound - range.lowerBound)
        do throws(VaultError) {
            let plain = try decrypt(ciphertext, contentLength: count)
            if plain.count == count, SHA256.hash(plain.span).bytes.elementsEqual(catalog.digestBytes(number))
            {
                return plain
            }
        } catch {
            // Other errors, such as lack of memory, do not mean damage.
            guard error.category == .corrupt, !error.needsNewerRelease else { throw error }
        }
        throw damaged(number)
    }

    private func decrypt(
        _ ciphertext: [UInt8], contentLength count: Int
    ) throws(VaultError) -> ArraySlice<UInt8> {
        let message = try Cobblestone256.open(
            ciphertext.span, context: PieceSealer.context, key: key.pieceKey)
        return try PieceCodec(ofMessage: message, at: pack.place).decode(message, from: 1, exactly: count)
    }

    private func damaged(_ number: Int) -> VaultError {
        VaultError(
            .corrupt, "piece \(number) is damaged", at: pack.place,
            remedy: "repair the pack, or fetch it again")
    }
}
