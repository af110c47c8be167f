public import SealedPack
public import VaultBase
public import VaultFileSystem

/// Which version a sealed pack gets.
public enum PackVersioning: Sendable {
    case exactly(UInt64)
    /// The version of ``SealingRequest/previous`` if the content is the same, else one more than the higher of that version and `above`.
    case following(above: UInt64 = 0)
}

/// How a source is sealed.
public struct SealingRequest: Sendable {
    public var id: PackID
    public var versioning: PackVersioning
    public var key: ContentKey
    public var slots: [KeySlot]
    public var offer: PackOffer
    public var compression: Compression
    /// The files that clients download before the others. They change nothing but the manifest.
    public var first = FirstFiles.none
    /// The pack whose unchanged pieces are reused; its content key must be the same.
    public var previous: OpenPack?

    public init(
        id: PackID, versioning: PackVersioning, key: ContentKey, slots: [KeySlot],
        offer: PackOffer = PackOffer(),
        compression: Compression = .standard, previous: OpenPack? = nil
    ) {
        self.id = id
        self.versioning = versioning
        self.key = key
        self.slots = slots
        self.offer = offer
        self.compression = compression
        self.previous = previous
    }
}

/// The result of sealing a source.
public struct SealingResult: Sendable {
    public let manifest: PackManifest
    /// Pieces reused from the previous version.
    public let reusedPieces: UInt32
    /// Pieces that could not be reused, and were sealed again to the same bytes.
    public internal(set) var repeatedPieces: UInt32 = 0
    /// Pieces of the previous version that could not be reused, and whose content was sealed to other bytes.
    public internal(set) var missedPieces: [Int] = []
}

extension SealingRequest {
    /// Seals `source` into `output`, front to back; equal content, request and key give equal bytes. Pieces are
    /// compressed, encrypted and hashed on all cores. Throws `.usage` for an impossible request, `.key` if the previous pack has another
    /// content key, and `.io`.
    public func seal(
        _ source: borrowing SourceFolder, into output: OpenFileReference,
        progress: (UInt64) -> Void = { _ in }
    ) async throws(VaultError) -> SealingResult {
        try checkPrevious()
        try KeySlot.requireCount(slots.count, at: id.description)
        var cutter = try PieceCutter(source, key: key)
        var writer = try PackWriter(to: output, key: key)
        // First, so that too many entries are refused at once.
        for index in 0..<source.entries.count {
            let entry = source.entries[index]
            try writer.catalog.appendEntry(entry.path, kind: PackEntryKind(entry.kind), size: entry.size)
        }
        let sealer = PieceSealer(
            key: key, compression: compression, previous: previous.map(PreviousPieces.init))
        var done: UInt64 = 0
        try await runInOrder(
            next: { () throws(VaultError) in NextInput(try cutter.next()) },
            // The piece, its compressed message and its ciphertext.
            memory: { (plain: [UInt8]) in 3 * plain.count },
            work: { (plain: [UInt8]) throws(VaultError) in try sealer.seal(plain) },
            deliver: { (piece: SealedPiece) throws(VaultError) in
                try writer.append(piece)
                done += UInt64(piece.plainLength)
                progress(done)
            })
        let (reused, repeated, missed) = (writer.reusedPieces, writer.repeatedPieces, writer.missedPieces)
        let isSame = previous.map { writer.hasSameContent(as: $0) } ?? false
        let version = try version(isSame: isSame)
        let manifest = try writer.finish(
            id: id, version: version, offer: offer, slots: slots,
            first: first.positions(among: source.entries),
            repeating: isSame && version == previous?.version ? previous : nil)
        return SealingResult(
            manifest: manifest, reusedPieces: reused, repeatedPieces: repeated, missedPieces: missed)
    }

    private func checkPrevious() throws(VaultError) {
        guard let previous else { return }
        guard previous.id == id else {
            throw VaultError(
                .usage, "the previous pack is '\(previous.id)', not '\(id)'", at: previous.pack.place,
                remedy: "give an earlier version of the same pack")
        }
        guard previous.key.id == key.id else {
            throw VaultError(
                .key, "the previous pack has another content key", at: previous.pack.place,
                remedy: "seal without it, or with its key")
        }
    }

    /// - Parameter isSame: whether content and pieces are those of the previous version.
    private func version(isSame: Bool) throws(VaultError) -> UInt64 {
        let earlier = previous?.version ?? 0
        let version =
            switch versioning {
            case .exactly(let number): number
            case .following(let highest): isSame ? earlier : max(earlier, highest) + 1
            }
        guard (1...FormatLimits.maximumVersion).contains(version) else {
            throw VaultError(
                .usage, "version \(version) is out of range", at: id.description, remedy: "use 1 to 2^53 - 1")
        }
        return version
    }
}

extension PackEntryKind {
    init(_ kind: SourceFolder.Entry.Kind) {
        switch kind {
        case .emptyFolder: self = .emptyFolder
        case .file(let isExecutable): self = isExecutable ? .executable : .file
        }
    }
}
