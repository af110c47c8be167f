public import SealedPack
import SystemPackage
import UpdateFramework
public import VaultBase
import VaultFileSystem
import VaultSite
import VaultTransport

/// A version of a pack at its host, in a sparse file without a name. Header and footer follow from the manifest;
/// index and catalog are fetched and verified; pieces are fetched on demand and verified by the index.
public struct HostedPack: Sendable {
    public let pack: PackFile
    /// Whether the host sent the whole pack, for lack of Range support.
    let isWhole: Bool
    private let file: RemoteFile

    /// - Parameter scratch: an existing folder.
    init(
        _ pack: PackManifest, at site: Site, in chain: TrustChain, scratch: FilePath
    ) async throws(VaultError) {
        let record = try TargetRecord(path: pack.id.targetPath, json: pack.json)
        let file = RemoteFile(
            try site.location(of: record, in: chain), of: pack.id.description, length: pack.length,
            transport: site.transport, remedy: "upload the publisher's copy of it")
        let content = OpenFileReference(try OpenFile(namelessIn: scratch))
        var assembly = try PackAssembly(content, of: pack)
        guard let tail = try assembly.wanted() else {
            throw VaultError(.corrupt, "it has no index", at: pack.id.description, remedy: "publish it anew")
        }
        isWhole = try await file.read(tail) { (bytes, offset) throws(VaultError) in
            // A whole response is cut down to the tail, which is verified next.
            let part = (offset..<(offset + UInt64(bytes.count))).clamped(to: tail)
            guard !part.isEmpty else { return }
            let first = Int(part.lowerBound - offset)
            try assembly.receiveUnverified(
                bytes.span.extracting(first..<(first + part.count)), at: part.lowerBound)
        }
        guard try await assembly.verifyTail(), !assembly.isTailUnverified else {
            throw VaultError(
                .corrupt, "the index or the catalog has the wrong digest", at: file.location.description,
                remedy: "upload the publisher's copy of it")
        }
        self.pack = try PackFile(content, as: pack, named: file.location.description)
        self.file = file
    }

    /// Passes verified bytes of the pack's content on, in their order; only the pieces that hold them are fetched.
    ///
    /// - Throws: `corrupt` for a damaged piece, `notHosted`, `unavailable`.
    public func read(
        _ content: Range<UInt64>, of open: OpenPack, _ deliver: (Span<UInt8>) throws(VaultError) -> Void
    ) async throws(VaultError) {
        try await fetch(Array(open.catalog.pieces(containing: content)), of: open)
        try await open.read(content, deliver)
    }

    /// Fetches pieces. Those with a wrong digest stay missing.
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
