public import SealedPack
public import VaultBase
public import VaultCrypto
import VaultSite

/// The content key of a pack; it also opens the other packs of its resource tree.
public enum ContentKeyExport {
    /// - Returns: a ring with this key alone.
    /// - Throws: `missing` for a pack that no channel lists; `key` where no key here opens it.
    public static func key(
        of id: PackID, in vault: VaultFolder, _ request: AuthorRequest
    ) async throws(VaultError) -> KeyRing {
        try await vault.withSession(request) { session async throws(VaultError) in
            let publisher = try await PackPublisher(for: session)
            let listed = try session.listedVersions().map(\.pack)
            let names = await publisher.names(of: listed)
            guard let pack = listed.first(where: { names.shownID(of: $0.id) == id }) else {
                throw VaultError(
                    .missing, "no channel lists it", at: id.description,
                    remedy: "name a pack that is published"
                ).suggesting(
                    id.description, among: Set(listed.map { names.shownID(of: $0.id).description }))
            }
            let key = try await publisher.keys.openers.contentKey(of: pack, place: id.description)
            return KeyRing(contentKeys: [try key.injected()])
        }
    }
}
