import SealedPack
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultKeys
import VaultSite

/// The packs of a site by the metadata that the app verified and stored, read without the network.
///
/// A pack that a downloader brought counts only if it is listed here, digest and all: so a file in shared storage,
/// such as an older version of a pack, is never opened just because it is there.
struct StoredListing: Sendable {
    let trust: MetadataStore
    private(set) var chain: TrustChain
    private(set) var lookup: TargetLookup
    let appVersion: AppVersion?
    /// Chooses among variants.
    let device: DeviceTraits
    /// Whether the channel lists keyed digests for the names of its packs; nil where its role is not stored.
    private(set) var hasQuietNames: Bool?
    /// The names that the app opened last; nil for none.
    var storedNames: StoredNames?
    let channel: Channel

    var names: PackNames? { storedNames?.names }

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
        trust = store.readableMetadata
        // Delegated roles that were adopted are read where they are, and count as the app's snapshot lists them.
        let source = store.metadata(of: .downloader).asSource
        lookup = trust.lookup(from: source, now: .earliest)
        guard try trust.pinDigest() != nil else { return nil }
        if let trustedRoot {
            try await trust.requireStoredRoot(agreeingWith: trustedRoot, from: source)
        }
        let choice = try StoredListingChoice(of: store).completing(choice)
        (appVersion, device) = (choice.appVersion, choice.decidingDevice)
        channel = choice.channel ?? .live
        do throws(VaultError) {
            chain = try await trust.storedChain().following(channel)
        } catch {
            guard error.meansIncompleteMetadata else { throw error }
            return nil
        }
        hasQuietNames = try? await lookup.hasQuietNames(channel, in: chain)
        storedNames = try StoredNames(of: store)
    }

    /// What a downloader's metadata list that the app would adopt, read only; nil where they do not verify.
    init?(
        broughtTo store: StoreAccess, trusting trustedRoot: [UInt8]?, choosing choice: ListingChoice
    ) async throws(VaultError) {
        let choice = try StoredListingChoice(of: store).completing(choice)
        (trust, channel) = (store.metadata, choice.channel ?? .live)
        (appVersion, device) = (choice.appVersion, choice.decidingDevice)
        do throws(VaultError) {
            let state = try await store.broughtState(trusting: trustedRoot)
            (chain, lookup) = (try state.chain.following(channel), state.lookup)
        } catch {
            guard !Task.isCancelled else { throw error }
            return nil
        }
        hasQuietNames = try? await lookup.hasQuietNames(channel, in: chain)
        storedNames = try StoredNames(of: store)
    }

    /// What was listed before; see ``firstEarlier(_:)``.
    init(
        _ present: Self, before chain: TrustChain, _ lookup: TargetLookup, hasQuietNames: Bool?
    ) {
        self = present
        (self.chain, self.lookup, self.hasQuietNames) = (chain, lookup, hasQuietNames)
    }

    /// The version of a pack that is listed for this app; nil where there is none.
    func offer(of id: PackID) async throws(VaultError) -> LocatedPack? {
        let record = try await lookup.target(at: id.targetPath, in: chain)
        guard let record,
            let listed = try Optional(
                ListedPack.readable(in: record, granting: TagGrants(in: chain))),
            let pack = listed.version(for: appVersion)
        else { return nil }
        let named = names?.completing(pack) ?? pack
        return LocatedPack(
            pack: named, listing: ListingVersion(chain), locations: [], rank: listed.rank)
    }

    /// The versions of some packs that are listed for this app.
    func offers(of ids: [PackID]) async -> [LocatedPack] {
        var found: [LocatedPack] = []
        for id in ids {
            if let offer = try? await offer(of: id) { found.append(offer) }
        }
        return found
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
            ranked(PublishedPacks(seenIn: try await lookup.tree(of: chain)))
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
