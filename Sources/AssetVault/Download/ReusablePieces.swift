import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// What an arriving pack may rest on, so that its file need not have all its pieces.
enum ArrivalBasis: Sendable {
    /// Trees: the pack is opened as it comes, and takes from them what is unchanged. If `isTrusting`, files that have the sizes and times
    /// of when they were written are taken as unchanged.
    case trees(openedWith: any KeyProvider, isTrusting: Bool)
    /// The version that is here: the pack waits for its key, or stays sealed.
    case version

    /// What remains after it turned out to have other bytes than it should: nothing, or trees of which each byte is read.
    var careful: ArrivalBasis? {
        guard case .trees(let keys, _) = self else { return nil }
        return .trees(openedWith: keys, isTrusting: false)
    }
}

/// The version of a pack that a newer one rests on.
enum EarlierVersion {
    /// A tree, by its tail file.
    case tree(tail: PackFile)
    /// A sealed file, with its own bases; and the name that the newer one will have beside it.
    case sealed(PackFile, as: String)
}

/// What a download may take pieces from, asked once its own index is verified: only what has a missing piece is opened, one
/// after the other.
struct ReusablePieces: Sendable {
    let pack: PackManifest
    /// The download itself.
    let file: FilePath
    /// Whether the index is worth a request of its own.
    let hasSources: Bool
    /// Sealed versions of the pack itself, open.
    let versions: [StoredPieces]
    let stored: ReusablePacks
    let basis: ArrivalBasis?

    /// The sealed sources of these pieces, one after the other, the best first.
    func sources(with pieces: [PiecePrefix]) -> () -> (any PieceSource)? {
        var open = pieces.isEmpty ? [] : versions[...]
        var others = stored.sealedSources(with: pieces, of: pack, besides: file)[...]
        return {
            if let source = open.popFirst() { return source }
            while let source = others.popFirst() {
                if let opened = source.open(under: pack.contentKeyID, within: stored.budget) { return opened }
            }
            return nil
        }
    }

    /// What a pack rests on; its file has the other pieces.
    enum Rest {
        /// It is opened as it comes.
        ///
        /// - Parameter missing: the pieces that were missing in its file at the start.
        case trees(TreeBasis?, of: OpenPack, missing: [PiecePrefix])
        /// It waits, or stays sealed.
        case file(PieceBases?)
    }

    /// Finds what the pack rests on; the assembly, whose tail is verified, no longer asks for those pieces.
    ///
    /// - Parameter isArriving: whether the tree that the pack is being opened into counts as one.
    func rest(_ assembly: inout PackAssembly, isArriving: Bool) async throws(VaultError) -> Rest {
        guard let source = try await openPack(assembly.partial) else {
            return .file(try restOnVersion(&assembly))
        }
        let missing = try assembly.missingPieces()
        let basis = try await leaveOut(of: &assembly, source, missing: missing, isArriving: isArriving)
        return .trees(basis, of: source, missing: missing)
    }

    /// The pack's index and catalog; nil where it is not to be opened, or can't be.
    private func openPack(_ partial: PackFile) async throws(VaultError) -> OpenPack? {
        guard case .trees(let keys, _) = basis else { return nil }
        do throws(VaultError) { return try await OpenPack(partial, keys: keys) } catch {
            // It is downloaded as it is: opening it reports the error.
            guard error.category == .key || error.isDamage else { throw error }
            return nil
        }
    }

    /// What the pack takes from opened trees.
    ///
    /// - Parameter missing: the pieces that were missing at the start.
    func leaveOut(
        of assembly: inout PackAssembly, _ source: OpenPack, missing: [PiecePrefix], isArriving: Bool
    ) async throws(VaultError) -> TreeBasis? {
        guard case .trees(_, let isTrusting) = basis else { return nil }
        let trees = try await stored.basis(
            for: source, of: pack, missing: missing, isTrusting: isTrusting, isArriving: isArriving)
        if let trees { assembly.leaveOut(where: trees.has(piece:)) }
        return trees
    }

    private func restOnVersion(_ assembly: inout PackAssembly) throws(VaultError) -> PieceBases? {
        guard case .version = basis else { return nil }
        switch try stored.version(of: pack) {
        case .tree(let tail):
            try assembly.leaveOut(piecesOf: tail)
            return nil
        case .sealed(let earlier, let ownName): return try assembly.rest(on: earlier, as: ownName)
        case nil: return nil
        }
    }
}
