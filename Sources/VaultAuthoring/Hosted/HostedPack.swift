import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem
import VaultSite
import VaultTransport

/// A version of a pack at its host. Header and footer follow from what was signed; index and catalog are fetched and have
/// signed digests; pieces are fetched only where they are asked for. It lies in a file without a name, with holes.
struct HostedPack: Sendable {
    let pack: PackFile
    /// Whether the host sent all of it, since it does not do parts.
    let isWhole: Bool
    private let file: SiteFile
    private let content: OpenFileReference

    init(_ pack: PackDescriptor, at file: SiteFile, scratch: FilePath) async throws(VaultError) {
        let folder = try ScratchFolder(in: scratch)
        let content = OpenFileReference(try folder.folder.createFile("pack", permissions: 0o600))
        var assembly = try PackAssembly(content, of: pack)
        guard let tail = try assembly.wanted() else {
            throw VaultError(.corrupt, "it has no index", at: pack.id.description, remedy: "publish it anew")
        }
        isWhole = try await file.read(tail) { (bytes, offset) throws(VaultError) in
            try assembly.takeUnproven(bytes.span, at: offset)
        }
        guard try await assembly.prove(), !assembly.isUnproven else {
            throw VaultError(
                .corrupt, "the index or the catalog has the wrong digest", at: file.location.description,
                remedy: "upload the publisher's copy of it")
        }
        self.pack = assembly.partial
        self.file = file
        self.content = content
    }

    /// Fetches pieces. Nobody has proven them: whoever takes one over looks at what it holds, and at its digest.
    func fetch(_ pieces: [Int], of open: OpenPack) async throws(VaultError) {
        guard !isWhole else { return }
        let stretches = open.stretches(ofPieces: pieces.sorted())
        guard let start = stretches.first?.lowerBound, let end = stretches.last?.upperBound else { return }
        for stretch in stretches {
            let cameWhole = try await file.read(stretch) { (bytes, offset) throws(VaultError) in
                // Pieces and nothing else, whatever is sent: index and catalog are proven.
                let part = (offset..<(offset + UInt64(bytes.count))).clamped(to: start..<end)
                guard !part.isEmpty else { return }
                let first = Int(part.lowerBound - offset)
                try content.file.write(
                    bytes.span.extracting(first..<(first + part.count)), at: part.lowerBound)
            }
            if cameWhole { return }
        }
    }
}
