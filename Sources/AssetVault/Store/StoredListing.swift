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
    let trust: MetadataStore
    let chain: TrustChain
    let source: StoredMetadata
    let appVersion: AppVersion?
    /// Chooses among variants; nil takes all.
    let device: DeviceTraits?
    let names: PackNames?
    private(set) var acceptedRoles = AcceptedRoles.listed

    /// The app's listing; where a waiting pack is not in it, also the metadata that a downloader refreshed since. Nil where no
    /// stored metadata pass verification, or the store was never refreshed.
    ///
    /// - Parameters:
    ///   - trustedRoot: pinned where the app has no root yet.
    ///   - waiting: the packs that wait and were not accepted yet, by the digests in their names.
    ///   - choice: completed by the store's.
    init?(
        of store: StoreAccess, trusting trustedRoot: [UInt8]?, choosing choice: ListingChoice,
        listing waiting: [PackID: Set<SHA256Digest>]
    ) async throws(VaultError) {
        if let trustedRoot {
            try store.prepareMetadata()
            try await store.metadata.pin(trustedRoot)
        }
        do throws(VaultError) { try await store.adoptPin() } catch {
            guard !Task.isCancelled else { throw error }
        }
        if let kept = try await Self(kept: store, trusting: trustedRoot, choosing: choice),
            await kept.lists(waiting)
        {
            self = kept
            return
        }
        do throws(VaultError) { try await store.adoptMetadata(trusting: trustedRoot) } catch {
            // Where the downloader's metadata fail verification, the app's own count.
            guard !Task.isCancelled else { throw error }
        }
        try await self.init(kept: store, trusting: trustedRoot, choosing: choice)
    }

    /// The app's listing, read only; nil also where the site does not have the channel. Throws `.untrusted` where the given root
    /// is another site's.
    init?(
        kept store: StoreAccess, trusting trustedRoot: [UInt8]? = nil, choosing choice: ListingChoice = .none
    ) async throws(VaultError) {
        trust = store.metadata
        // Delegated roles that were adopted are read where they are, and count as the app's snapshot lists them.
        source = store.metadata(of: .downloader).asSource
        guard try trust.pinDigest() != nil else { return nil }
        if let trustedRoot {
            try await trust.requireStoredRoot(agreeingWith: trustedRoot, from: source)
        }
        let choice =
            choice.isComplete ? choice : choice.completed(by: try StoredListingChoice(of: store).choice())
        (appVersion, device) = (choice.appVersion, choice.device)
        do throws(VaultError) {
            chain = try await trust.storedChain().following(choice.channel ?? .live)
        } catch {
            guard error.meansIncompleteMetadata else { throw error }
            return nil
        }
        names = chain.hasQuietNames ? try StoredNames(of: store)?.names : nil
    }

    /// The same, also by delegated roles of which a refresh named later versions that were not read since: so a refresh for
    /// one tag closes no loaded pack of another.
    func acceptingEarlierRoles() -> Self {
        var listing = self
        listing.acceptedRoles = .lastVerified
        return listing
    }

    /// The version of a pack that is listed for this app; nil where there is none.
    func offer(of id: PackID) async throws(VaultError) -> LocatedPack? {
        let record = try await trust.target(
            at: id.targetPath, in: chain, from: source, now: .earliest)
        guard let record,
            let listed = try Optional(
                ListedPack.readable(in: record, granting: TagGrants(in: chain))),
            let pack = listed.version(for: appVersion)
        else { return nil }
        let named = names?.completing(pack) ?? pack
        return LocatedPack(pack: named, listing: ListingVersion(chain), locations: [])
    }

    private func lists(_ waiting: [PackID: Set<SHA256Digest>]) async -> Bool {
        for (id, digests) in waiting {
            guard let listed = try? await offer(of: id)?.pack.sha256, digests == [listed] else {
                return false
            }
        }
        return true
    }

    /// All packs that are listed for this app, in the order of their IDs.
    var packs: [RankedPack] {
        get async throws(VaultError) {
            ranked(PublishedPacks(seenIn: try await trust.tree(of: chain, from: source, now: .earliest)))
        }
    }

    func ranked(_ published: PublishedPacks) -> [RankedPack] {
        published.packs.compactMap { listed in
            listed.version(for: appVersion).map {
                RankedPack(pack: names?.completing($0) ?? $0, rank: listed.rank)
            }
        }
    }
}
