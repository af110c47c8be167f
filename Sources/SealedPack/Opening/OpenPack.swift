import VaultContent
import VaultCrypto
public import VaultErrors
import VaultFileSystem
public import VaultKeys

/// A pack read with its content key: its catalog is authentic and sound, its index is the one that the catalog names.
/// Pieces are verified one by one as they are read. Many tasks may read at once.
public final class OpenPack: Sendable {
    public let catalog: Catalog
    public let id: PackID
    public let version: UInt64
    public let pack: PackFile
    package let key: ContentKey

    public var manifest: PackManifest? { pack.manifest }

    private let places: PiecePlaces

    /// Throws `.key` when `key` is another pack's, `.corrupt` when the parts do not belong together.
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
            guard manifest.openedSize == catalog.contentCount else {
                throw refuse("the opened size differs from the manifest")
            }
            guard manifest.entryCount == catalog.entryCount else {
                throw refuse("the number of files differs from the manifest")
            }
        }
        id = unverified.id
        version = unverified.version
        places = try PiecePlaces(of: pack)
        self.pack = pack
        self.key = key
    }

    /// Finds the pack's content key among the keys that `keys` yields, by its own ID or in the manifest's slots.
    public convenience init(_ pack: PackFile, keys: any KeyProvider) async throws(VaultError) {
        let key = try await keys.contentKey(
            pack.contentKeyID, slots: pack.manifest?.slots ?? [], place: pack.place)
        try self.init(pack, key: key)
    }

    /// The ciphertext of piece `number`, as it stands in the file.
    func ciphertext(ofPiece number: Int) throws(VaultError) -> [UInt8] {
        let place = places[number]
        guard !place.isEmpty else { throw damaged(number) }
        return try pack.file.readExactly(place.count, at: place.lowerBound)
    }

    /// Where pieces lie in the file, each stretch of neighbours as one; of numbers that rise.
    public func stretches(ofPieces numbers: [Int]) -> [Range<UInt64>] {
        numbers.reduce(into: []) { stretches, number in
            let place = places[number]
            if let last = stretches.last, last.upperBound == place.lowerBound {
                stretches[stretches.count - 1] = last.lowerBound..<place.upperBound
            } else if !place.isEmpty {
                stretches.append(place)
            }
        }
    }

    /// What opening a piece takes: its ciphertext, its message, and the plaintext, also as zstd's window.
    func openingMemory(ofPiece number: Int) -> Int {
        2 * places[number].count + 2 * catalog.pieceRange(number).count
    }

    /// Decrypts and proves a piece: authentic, and exactly the bytes that the catalog states.
    func plaintext(ofPiece number: Int, ciphertext: [UInt8]) throws(VaultError) -> ArraySlice<UInt8> {
        let range = catalog.pieceRange(number)
        let count = Int(range.upperBound - range.lowerBound)
        do throws(VaultError) {
            let plain = try decrypt(ciphertext, contentCount: count)
            if plain.count == count, SHA256.hash(plain.span).bytes.elementsEqual(catalog.digestBytes(number))
            {
                return plain
            }
        } catch {
            // Want of memory, say, is not the pack's fault.
            guard error.category == .corrupt, !error.needsNewerRelease else { throw error }
        }
        throw damaged(number)
    }

    private func decrypt(_ ciphertext: [UInt8], contentCount count: Int) throws(VaultError) -> ArraySlice<
        UInt8
    > {
        let message = try Cobblestone256.open(
            ciphertext.span, context: PieceSealer.context, key: key.pieceKey)
        switch try PieceCodec(ofMessage: message, at: pack.place) {
        case .stored: return message.dropFirst()
        case .zstd: return try Zstd.decompress(message.span.extracting(1...), exactly: count)[...]
        }
    }

    private func damaged(_ number: Int) -> VaultError {
        VaultError(
            .corrupt, "piece \(number) is damaged", at: pack.place,
            remedy: "repair the pack, or fetch it again")
    }
}
