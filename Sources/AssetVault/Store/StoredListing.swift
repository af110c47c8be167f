import SealedPack
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultSite

/// The packs of a site by the metadata that the app verified and stored, read without the network.
///
/// A pack that a downloader brought counts only if it is listed here, digest and all: so a file in shared storage,
/// such as an older version of a pack, is never opened just because it is there.
struct StoredListing: Sendable {
    private let trust: MetadataStore
    private let chain: TrustChain
    private let source: StoredMetadata

    /// The app's listing; where a waiting pack is not in it, also the metadata that a downloader refreshed since. Nil where no
    /// stored metadata pass verification: the store was never refreshed, or a refresh was killed.
    ///
    /// - Parameters:
    ///   - trustedRoot: pinned where the app has no root yet.
    ///   - waiting: the packs that wait and were not accepted yet, by the digests in their names.
    init?(of areas: TrustAreas, trusting trustedRoot: [UInt8]?, listing waiting: [PackID: Set<SHA256Digest>])
        async throws(VaultError)
    {
        if let trustedRoot {
            try areas.prepare()
            try await areas.own.pin(trustedRoot)
        }
        do throws(VaultError) { try await areas.adoptPin() } catch {
            guard !Task.isCancelled else { throw error }
        }
        if let kept = try await Self(kept: areas, trusting: trustedRoot), await kept.lists(waiting) {
            self = kept
            return
        }
        do throws(VaultError) { try await areas.adoptMetadata(trusting: trustedRoot) } catch {
            // Where the downloader's metadata fail verification, the app's own count.
            guard !Task.isCancelled else { throw error }
        }
        try await self.init(kept: areas, trusting: trustedRoot)
    }

    /// The app's listing, read only. Throws `.untrusted` where the given root is another site's.
    init?(kept areas: TrustAreas, trusting trustedRoot: [UInt8]? = nil) async throws(VaultError) {
        trust = areas.own
        // Delegated roles that were adopted are read where they are, and count as the app's snapshot lists them.
        source = areas.metadata(of: .downloader).asSource
        guard try trust.pin() != nil else { return nil }
        if let trustedRoot {
            try await trust.requireStoredRoot(agreeingWith: trustedRoot, from: source)
        }
        do throws(VaultError) { chain = try await trust.storedChain() } catch {
            guard [.untrusted, .unavailable, .corrupt].contains(error.category) else { throw error }
            return nil
        }
    }

    /// The pack as it is listed; nil for an unlisted one.
    func offer(of id: PackID) async throws(VaultError) -> OfferedPack? {
        let record = try await trust.target(
            at: id.targetPath, in: chain, from: source, now: .earliest)
        guard let record else { return nil }
        let listing = try PublishedPacks.Listing(record)
        return OfferedPack(pack: listing.pack, version: ListingVersion(chain), locations: [])
    }

    private func lists(_ waiting: [PackID: Set<SHA256Digest>]) async -> Bool {
        for (id, digests) in waiting {
            guard let listed = try? await offer(of: id)?.pack.sha256, digests == [listed] else {
                return false
            }
        }
        return true
    }

    /// All packs that are listed, in the order of their IDs.
    var packs: [PackManifest] {
        get async throws(VaultError) {
            let tree = try await trust.tree(of: chain, from: source, now: .earliest)
            return PublishedPacks(of: tree).listings.map(\.pack)
        }
    }
}
