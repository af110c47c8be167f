import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem
import VaultSite
import VaultTransport

/// A version of a pack at its host. Header and footer follow from what was signed; index and catalog are fetched and have
/// signed digests; pieces are fetched only where they are asked for, and kept only with the digest that the index has for
/// them. It lies in a file without a name, with holes.
struct HostedPack: Sendable {
    let pack: PackFile
    /// Whether the host sends all of it, since it does not do parts.
    let isWhole: Bool
    private let file: SiteFile

    init(_ pack: PackManifest, at file: SiteFile, scratch: FilePath) async throws(VaultError) {
        let folder = try ScratchFolder(in: scratch)
        let content = OpenFileReference(try folder.folder.createFile("pack", permissions: 0o600))
        var assembly = try PackAssembly(content, of: pack)
        guard let tail = try assembly.wanted() else {
            throw VaultError(.corrupt, "it has no index", at: pack.id.description, remedy: "publish it anew")
        }
        isWhole = try await file.read(tail) { (bytes, offset) throws(VaultError) in
            // Of a host that sends all of it, too, only what is verified next is kept.
            let part = (offset..<(offset + UInt64(bytes.count))).clamped(to: tail)
            guard !part.isEmpty else { return }
            let first = Int(part.lowerBound - offset)
            try assembly.receiveUnverified(
                bytes.span.extracting(first..<(first + part.count)), at: part.lowerBound)
        }
        guard try await assembly.verifyTail(), !assembly.isUnverified else {
            throw VaultError(
                .corrupt, "the index or the catalog has the wrong digest", at: file.location.description,
                remedy: "upload the publisher's copy of it")
        }
        self.pack = assembly.partial
        self.file = file
    }

    /// Fetches pieces. Those that arrive with other bytes than the index proves stay missing.
    func fetch(_ pieces: [Int], of open: OpenPack) async throws(VaultError) {
        var arrival = try PieceReceiver(of: pieces, in: pack)
        for stretch in open.byteRanges(ofPieces: pieces.sorted()) {
            let cameWhole = try await file.read(stretch) { (bytes, offset) throws(VaultError) in
                try arrival.receive(bytes, at: offset)
            }
            if cameWhole { return }
        }
    }
}
