import SealedPack
import UpdateFramework
import VaultBase
import VaultSite
import VaultTransport

/// The packs of a site as a client of one channel sees them: one view of the metadata that a host has just sent (``LiveSite``) and
/// of those that were verified and stored before (``StoredSite``). Only this type knows teams, channels, app versions, devices and
/// opaque names.
struct SiteView: Sendable {
    /// As clients of the followed channel see it.
    let chain: TrustChain
    /// With all channels.
    let siteChain: TrustChain
    /// What was asked for, completed by what the store remembers.
    let choice: ClientChoice
    /// Of the delegated roles.
    let lookup: TargetLookup
    /// The mirrors, the one that sent the metadata first; none for stored metadata.
    private let mirrors: [Site]
    let role: StoreRole
    /// Whether the channel lists keyed digests for the names of its packs (opaque names); nil where its role can't be read, so
    /// that no pack of the site's own is known.
    let hasOpaqueNames: Bool?
    /// As the app opened them last, for the names that its channel has.
    private(set) var storedNames: StoredNames? {
        didSet { followKind() }
    }
    /// Why the names may not be those of this state of the site; nil where they are, and where names are public.
    var missingNames: VaultError?

    /// Throws `.missing` for a channel that the site does not have.
    ///
    /// - Parameters:
    ///   - choice: completed by the store's.
    ///   - mirrors: the one that sent the metadata first.
    init(
        of siteChain: TrustChain, choosing choice: ClientChoice, lookup: TargetLookup,
        at mirrors: [Site] = [],
        in store: StoreAccess
    ) async throws(VaultError) {
        (self.siteChain, self.choice, self.lookup) = (siteChain, choice, lookup)
        (self.mirrors, role) = (mirrors, store.role)
        let channel = choice.channel ?? .live
        chain = try siteChain.following(channel)
        do throws(VaultError) {
            hasOpaqueNames = try await lookup.hasOpaqueNames(channel, in: chain)
        } catch {
            // A caller that looks for packs gets the error.
            if Task.isCancelled { throw error }
            hasOpaqueNames = nil
        }
        storedNames = try StoredNames(of: store)
        followKind()
    }

    /// Chooses among variants. Where none was ever named, one that states nothing: it gets the fallbacks, and not all variants.
    var device: DeviceTraits { choice.device ?? DeviceTraits() }
    var version: ListingVersion { ListingVersion(chain) }
    /// See ``VaultClient/contestedVersion``.
    var contestedVersion: Int64? { chain.isContested ? chain.timestamp.version : nil }
}

/// The names of its packs.
extension SiteView {
    /// The names of opaque IDs; nil if names are public, or not known at all.
    var names: PackNames? { hasOpaqueNames == false ? nil : storedNames?.names }

    /// Checks whether the names that the app opened last belong to this state of the site: other names would mix two states.
    mutating func checkNames() async throws(VaultError) {
        missingNames = nil
        guard hasOpaqueNames == true else { return }
        do throws(VaultError) {
            guard let table = try await namesTable(), table.pack.sha256 != storedNames?.digest else { return }
            missingNames = .closedNames(table.pack)
        } catch {
            guard error.concernsOnePack else { throw error }
            missingNames = error.ofNames
        }
    }

    /// Takes the names that the app has opened since.
    mutating func follow(_ names: StoredNames?) async throws(VaultError) {
        storedNames = names
        try await checkNames()
    }

    private mutating func followKind() {
        guard let hasOpaqueNames, storedNames?.areOpaque == !hasOpaqueNames else { return }
        storedNames?.areOpaque = hasOpaqueNames
    }

    /// Keeps the names for work without the site.
    func keepNames(in store: StoreAccess) throws(VaultError) {
        guard hasOpaqueNames != nil, let storedNames, try storedNames != StoredNames(of: store) else {
            return
        }
        try storedNames.save(in: store.layout)
    }

    /// Notes that the packs of all tags are here as this state of the site lists them, as far as they were asked for: an earlier
    /// state is no longer needed to read them. Not where the names may be those of another state.
    ///
    /// - Parameters:
    ///   - packs: where one that has a tag is not here as it is listed, nothing is noted.
    ///   - awaitingKey: those whose key is missing. One that was never here is of no use to this user, and does not count.
    func noteReadable(
        in store: StoreAccess, unlessBehind packs: [PackManifest], awaitingKey: Set<PackID> = []
    ) async {
        guard hasOpaqueNames != nil, missingNames == nil else { return }
        let isBehind = packs.contains { pack in
            guard !pack.tags.isEmpty else { return false }
            let loaded = store.records.loadedDigest(of: pack.id)
            return loaded != pack.sha256 && (loaded != nil || !awaitingKey.contains(pack.id))
        }
        if !isBehind { await store.metadata.noteReadable(siteChain) }
    }

    /// Whether that was noted.
    func isWhole(in store: StoreAccess) -> Bool { store.metadata.isNotedReadable(siteChain) }

    /// The pack with the table of opaque names; nil where none is listed.
    func namesTable() async throws(VaultError) -> LocatedPack? {
        try await pack(listedAs: PackID(PackNames.packID))
    }
}

/// Single packs, and all of them.
extension SiteView {
    /// One pack, by its name or its listed ID. Of a large site only the delegated metadata that may list it are read. Throws
    /// `.missing` for a pack that the site does not list for this app.
    func pack(withID id: PackID) async throws(VaultError) -> LocatedPack {
        let listedID = names?.listedID(of: id) ?? id
        if let listed = try await listed(listedID) {
            if let pack = try located(listed) { return pack }
            throw VaultError(
                .missing,
                "version \(choice.appVersion ?? .first) of the app is too old or too new for what the site lists",
                at: shownID(of: listedID).description,
                remedy: "use another version of the app; what is loaded stays")
        }
        if let missingNames { throw missingNames }
        let ids = try await lookup.tree(of: chain).records.compactMap { PackID(targetPath: $0.path) }
            .filter { names == nil || $0.description != PackNames.packID }
            .map(shownID).sorted().map(\.description)
        throw VaultError(
            .missing, "the site lists no pack '\(shownID(of: listedID))'",
            at: shownID(of: listedID).description,
            remedy: ids.isEmpty ? "it lists none at all" : "choose among \(ids.listed(upTo: 8))")
    }

    private func shownID(of id: PackID) -> PackID { names?.shownID(of: id) ?? id }

    /// The version of a pack for this app; nil where none is listed.
    func pack(listedAs id: PackID) async throws(VaultError) -> LocatedPack? {
        guard let listed = try await listed(id) else { return nil }
        return try located(listed)
    }

    /// Whether the site lists a pack, for any version of the app. Throws where that is not known.
    func lists(_ id: PackID) async throws(VaultError) -> Bool {
        try await lookup.target(at: id.targetPath, in: chain) != nil
    }

    /// The versions of some packs for this app, as far as they are listed and can be read.
    func packs(listedAs ids: [PackID]) async -> [LocatedPack] {
        var found: [LocatedPack] = []
        for id in ids {
            if let pack = try? await pack(listedAs: id) { found.append(pack) }
        }
        return found
    }

    /// All packs for this app, in the order of their IDs, and whether all roles that list packs could be read.
    func allPacks() async throws(VaultError) -> (packs: [LocatedPack], areComplete: Bool) {
        let tree = try await lookup.tree(of: chain)
        var packs: [LocatedPack] = []
        for listed in PublishedPacks(seenIn: tree).packs {
            if let pack = try located(listed) { packs.append(pack) }
        }
        return (packs, tree.refusals.isEmpty)
    }

    private func listed(_ id: PackID) async throws(VaultError) -> ListedPack? {
        guard let record = try await lookup.target(at: id.targetPath, in: chain) else { return nil }
        return try ListedPack.readable(in: record, granting: TagGrants(in: chain))
    }

    /// The version for this app, with all mirrors of its file; nil where none is for it.
    func located(_ listed: ListedPack) throws(VaultError) -> LocatedPack? {
        guard let pack = listed.version(for: choice.appVersion) else { return nil }
        var locations: [SiteLocation] = []
        if !mirrors.isEmpty {
            let target = try ListedPack(pack).target
            for mirror in mirrors { locations.append(try mirror.location(of: target, in: chain)) }
        }
        return LocatedPack(
            pack: names?.completing(pack) ?? pack, listing: version, locations: locations, rank: listed.rank)
    }
}

/// Checks of what a client asks for.
extension SiteView {
    /// The channels that list packs, besides the one that is followed.
    func otherChannelsWithPacks() async throws(VaultError) -> [Channel] {
        var found: [Channel] = []
        for channel in siteChain.channels where channel != choice.channel ?? .live {
            let tree = try await lookup.tree(of: siteChain.following(channel))
            let ids = tree.records.lazy.compactMap { PackID(targetPath: $0.path)?.description }
            if ids.contains(where: { $0 != PackNames.packID }) { found.append(channel) }
        }
        return found
    }

    /// Throws `.usage` for one of these traits that no listed pack has: it would choose nothing. Where a role can't be verified, or names are
    /// opaque and not known here, nothing is said.
    func requireKnownTraits(_ stated: [String]) async throws(VaultError) {
        guard hasOpaqueNames == false || names != nil else { return }
        let tree = try await lookup.tree(of: chain)
        guard tree.refusals.isEmpty else { return }
        var known: Set<String> = []
        for listed in PublishedPacks(seenIn: tree).packs {
            for pack in [listed.pack] + listed.otherVersions {
                known.formUnion((names?.completing(pack) ?? pack).offer.traits.keys)
            }
        }
        guard let name = stated.first(where: { !known.contains($0) }) else { return }
        throw VaultError(
            .usage, "no listed pack has the trait '\(name.excerpt)', which the device states", at: "device",
            remedy: "leave it out"
        ).suggesting(name, among: known.sorted())
    }
}
