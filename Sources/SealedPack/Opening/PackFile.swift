public import SystemPackage
public import VaultBase
import VaultCrypto
public import VaultFileSystem

/// A pack whose header and footer are sound, and match its manifest if there is one. Pieces and catalog are not
/// verified.
public final class PackFile: Sendable {
    public let manifest: PackManifest?
    let header: PackHeader
    package let footer: PackFooter
    package let place: String
    let reference: OpenFileReference
    /// What it rests on; nil where its own file has all pieces, as far as is known.
    package let bases: PieceBases?

    package var file: OpenFile { _read { yield reference.file } }

    public var contentKeyID: ContentKeyID { header.contentKeyID }
    public var pieceCount: UInt32 { footer.layout.pieceCount }
    /// Bytes of the whole file.
    public var length: UInt64 { footer.layout.packLength }

    /// Whether a pack may begin with these bytes, to detect other files before the whole file is read.
    public static func mayBegin(with bytes: [UInt8]) -> Bool {
        zip(PackHeader.magic, bytes).allSatisfy { $0 == $1 }
    }

    /// Opens the pack at `path`, with what it rests on. Length, header and footer must match the manifest, if given. Throws
    /// `.corrupt`, `.missing`, `.io`.
    public convenience init(opening path: FilePath, as manifest: PackManifest?) throws(VaultError) {
        let pack = try PackFile(OpenFileReference(try OpenFile(reading: path)), as: manifest)
        self.init(pack, on: try PieceBases(beside: path, of: pack))
    }

    /// - Parameter name: the pack's name in errors; the file's path by default.
    public init(_ reference: OpenFileReference, as manifest: PackManifest?, named name: String? = nil)
        throws(VaultError)
    {
        let place = name ?? reference.file.path.description
        let size = try reference.file.status().size
        if let manifest, manifest.length != size {
            throw VaultError(
                .corrupt, "the pack has \(size) bytes, not the \(manifest.length) of its manifest",
                at: place,
                remedy: "repair the pack, or fetch it again", code: "wrong-length")
        }
        guard size >= UInt64(PackHeader.length + PackFooter.length) else {
            throw VaultError(
                .corrupt, "the file is too short to be an asset pack", at: place,
                remedy: "check the file's name and its download", code: "no-pack")
        }
        let head = try reference.file.readExactly(PackHeader.length, at: 0)
        let header = try PackHeader(parsing: head.span, place: place)
        let tail = try reference.file.readExactly(PackFooter.length, at: size - UInt64(PackFooter.length))
        if let manifest {
            guard head == manifest.header.bytes, tail == (try manifest.footer(place: place)).bytes else {
                throw VaultError(
                    .corrupt, "header or footer differ from the manifest", at: place,
                    remedy: "use the manifest of exactly this pack, or repair the pack", code: "other-pack")
            }
        }
        self.reference = reference
        self.manifest = manifest
        self.header = header
        self.footer = try PackFooter(parsing: tail.span, packLength: size, place: place)
        self.place = place
        bases = nil
    }

    /// The same pack, which rests on `bases`.
    package init(_ pack: PackFile, on bases: PieceBases?) {
        (reference, manifest, header, footer, place) = (
            pack.reference, pack.manifest, pack.header, pack.footer, pack.place
        )
        self.bases = bases
    }

    /// The same pack, resting on the bases that the places beside its file name; as it is where there are none.
    package func withBases(beside path: FilePath) throws(VaultError) -> PackFile {
        PackFile(self, on: try PieceBases(beside: path, of: self))
    }

    /// Whether length, header and footer are those of `manifest`. They contain the digests of index and catalog, by
    /// which all other parts are verified.
    public func matches(_ manifest: PackManifest) -> Bool {
        guard manifest.length == length, let footer = try? manifest.footer(place: place) else {
            return false
        }
        return header.bytes == manifest.header.bytes && self.footer.bytes == footer.bytes
    }
}

extension PackFile {
    /// Streams the index: passes every record and the offset of its piece to `body`. The records are verified only when
    /// this returns. Throws `.corrupt`.
    func forEachIndexRecord(_ body: (_ number: Int, IndexRecord, _ offset: UInt64) throws(VaultError) -> Void)
        throws(VaultError)
    {
        let layout = footer.layout
        let recordsAtOnce = 4096
        var digest = SHA256()
        var block: [UInt8] = []
        var offset = PackLayout.piecesOffset
        var number = 0
        while number < Int(layout.pieceCount) {
            let records = min(recordsAtOnce, Int(layout.pieceCount) - number)
            let position = layout.indexOffset + UInt64(number) * UInt64(IndexRecord.length)
            guard
                try file.read(into: &block, upTo: records * IndexRecord.length, at: position) == records
                    * IndexRecord.length
            else { throw indexRefusal("the pack is cut short") }
            digest.update(block.span)
            for index in 0..<records {
                let start = index * IndexRecord.length
                let record = try IndexRecord(
                    parsing: block.span.extracting(start..<(start + IndexRecord.length)), place: place)
                guard UInt64(record.ciphertextLength) <= layout.indexOffset - offset else {
                    throw indexRefusal("the index states more bytes than there are")
                }
                try body(number, record, offset)
                offset += UInt64(record.ciphertextLength)
                number += 1
            }
        }
        guard digest.finalize() == footer.indexDigest else {
            throw indexRefusal("the index has the wrong digest")
        }
        guard offset == layout.indexOffset else {
            throw indexRefusal("the index states fewer bytes than there are")
        }
    }

    private func indexRefusal(_ problem: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: place, remedy: "repair the pack, or fetch it again", code: "damaged-index")
    }
}
