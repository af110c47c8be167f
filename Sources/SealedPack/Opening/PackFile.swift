public import SystemPackage
import VaultCrypto
public import VaultErrors
public import VaultFileSystem

/// A file descriptor that several tasks read at once.
public final class OpenFileReference: Sendable {
    public let file: OpenFile

    public init(_ file: consuming OpenFile) { self.file = file }
}

/// A pack whose header and footer are sound, and are those of its manifest when there is one. Nothing is known
/// of its pieces and its catalog yet.
public final class PackFile: Sendable {
    public let manifest: PackManifest?
    let header: PackHeader
    package let footer: PackFooter
    package let place: String
    let reference: OpenFileReference

    package var file: OpenFile { _read { yield reference.file } }

    public var contentKeyID: ContentKeyID { header.contentKeyID }
    public var pieceCount: UInt32 { footer.layout.pieceCount }
    /// Bytes of the whole file.
    public var length: UInt64 { footer.layout.packCount }

    /// Whether a pack may begin like this: tells it from other files before all of it is there.
    public static func mayBegin(with bytes: [UInt8]) -> Bool {
        zip(PackHeader.magic, bytes).allSatisfy { $0 == $1 }
    }

    /// Opens the pack at `path`. With a manifest, length, header and footer must be exactly those that it
    /// determines. Throws `.corrupt`, `.missing`, `.io`.
    public convenience init(opening path: FilePath, as manifest: PackManifest?) throws(VaultError) {
        try self.init(OpenFileReference(try OpenFile(reading: path)), as: manifest)
    }

    /// - Parameter name: what errors call the pack; the file's path by default.
    public init(_ reference: OpenFileReference, as manifest: PackManifest?, named name: String? = nil)
        throws(VaultError)
    {
        let place = name ?? reference.file.path.description
        let size = try reference.file.status().size
        if let manifest, manifest.length != size {
            throw VaultError(
                .corrupt, "the pack has \(size) bytes, not the \(manifest.length) of its manifest",
                at: place,
                remedy: "repair the pack, or fetch it again")
        }
        guard size >= UInt64(PackHeader.count + PackFooter.count) else {
            throw VaultError(
                .corrupt, "the file is too short to be an asset pack", at: place,
                remedy: "check the file's name and its download")
        }
        let head = try reference.file.readExactly(PackHeader.count, at: 0)
        let header = try PackHeader(parsing: head.span, place: place)
        let tail = try reference.file.readExactly(PackFooter.count, at: size - UInt64(PackFooter.count))
        if let manifest {
            guard head == manifest.header.bytes, tail == (try manifest.footer(place: place)).bytes else {
                throw VaultError(
                    .corrupt, "header or footer differ from the manifest", at: place,
                    remedy: "use the manifest of exactly this pack, or repair the pack")
            }
        }
        self.reference = reference
        self.manifest = manifest
        self.header = header
        self.footer = try PackFooter(parsing: tail.span, packCount: size, place: place)
        self.place = place
    }

    /// Whether length, header and footer are those that `manifest` determines. They hold the digests of index and
    /// catalog, which prove everything that is read of a pack.
    public func isDescribed(by manifest: PackManifest) -> Bool {
        guard manifest.length == length, let footer = try? manifest.footer(place: place) else {
            return false
        }
        return header.bytes == manifest.header.bytes && self.footer.bytes == footer.bytes
    }
}
