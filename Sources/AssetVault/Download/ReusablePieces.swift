import SealedPack
import SystemPackage
import VaultErrors
import VaultKeys

/// What a download may take pieces from, asked once its own index is verified: only what has a missing piece is opened, one
/// after the other.
struct ReusablePieces: Sendable {
    let pack: PackManifest
    /// The download itself.
    let file: FilePath
    /// Whether the index is worth a request of its own.
    let hasSources: Bool
    /// Sealed versions of the pack itself, open.
    let versions: [any PieceSource]
    let stored: ReusablePacks
    /// Opens trees; nil without keys.
    let keys: (any KeyProvider)?
    let budget: ReuseBudget

    /// The sources of these pieces, the best first.
    func sources(with pieces: [PiecePrefix]) async -> Sources {
        guard !pieces.isEmpty else {
            return Sources(key: pack.contentKeyID, budget: budget, open: [], rest: [])
        }
        let found = stored.sources(with: pieces, of: pack, besides: file)
        var contentKey: ContentKey?
        if found.contains(where: { $0.tree != nil }) {
            contentKey = try? await keys?.contentKey(
                pack.contentKeyID, slots: pack.slots, place: pack.id.description)
        }
        return Sources(
            key: pack.contentKeyID, contentKey: contentKey, budget: budget, open: versions[...],
            rest: found[...])
    }

    /// Opens one source after the other.
    struct Sources {
        let key: ContentKeyID
        var contentKey: ContentKey?
        let budget: ReuseBudget
        fileprivate var open: ArraySlice<any PieceSource>
        fileprivate var rest: ArraySlice<StoredSource>

        mutating func next() -> (any PieceSource)? {
            if let source = open.popFirst() { return source }
            while let source = rest.popFirst() {
                if let opened = source.open(under: key, with: contentKey, within: budget) { return opened }
            }
            return nil
        }
    }
}
