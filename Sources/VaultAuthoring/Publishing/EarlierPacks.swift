import SealedPack
import StrictJSON
import UpdateFramework
import VaultErrors
import VaultSite

/// What is known of the versions before a publication.
struct EarlierPacks {
    /// The packs that the vault lists now, in the channel of its sources.
    let listed: [PackID: ListedPack]
    var published: [PackID: PackManifest] { listed.mapValues(\.pack) }
    let history: PackHistory
    /// The listed packs by their content keys, sorted by ID.
    private let byContentKey: [ContentKeyID: [PackManifest]]
    private let state: PublishedState
    private let pendingPacks: [PackID: PackManifest]
    /// The same of the other channels, the highest version first.
    private let promoted: [PackID: [PackManifest]]
    private let host: HostedSite?

    init(of session: AuthorSession, by publisher: PackPublisher) async throws(VaultError) {
        history = try await session.history()
        state = session.published
        host = publisher.files.host
        listed = Dictionary(session.sourceListing.packs.map { ($0.pack.id, $0) }) { first, _ in first }
        byContentKey = Dictionary(grouping: listed.values.map(\.pack), by: \.contentKeyID)
            .mapValues { $0.sorted { $0.id < $1.id } }
        promoted = Self.promotedPacks(of: session)
        pendingPacks = try Self.packs(pendingIn: session)
    }

    /// Candidates for the previous version of a pack, the best first.
    func candidates(for id: PackID) -> [PackManifest] {
        [pendingPacks[id], listed[id]?.pack].compactMap(\.self) + (promoted[id] ?? [])
    }

    /// Whether pieces of a pack with this content key may be in listed ones.
    func hasPacks(sharing key: ContentKeyID) -> Bool { byContentKey[key] != nil }

    /// The listed packs with this content key, sorted by ID.
    func packs(sharing key: ContentKeyID) -> [PackManifest] { byContentKey[key] ?? [] }

    /// A pack of the family, whose content key the others have as well.
    func member(of family: PackID) -> PackManifest? {
        let listed = [pendingPacks, published].flatMap(\.values) + promoted.values.joined()
        let packs = listed.lazy.filter { $0.offer.family == family }
        return packs.min { $0.id < $1.id }
    }

    /// An earlier version that is to be listed again. Versions that are listed, or wait for signatures, were accepted before.
    func version(
        _ version: UInt64, listedAs id: PackID, declaredAs name: PackID,
        acceptingRemovedKeys acceptsRemovedKeys: Bool
    ) async throws(VaultError) -> PackManifest {
        if let pack = candidates(for: id).first(where: { $0.version == version }) { return pack }
        try await host?.readWholeHistory(of: [id])
        return try history.manifest(
            listedAs: id, declaredAs: name, version: version, acceptingRemovedKeys: acceptsRemovedKeys)
    }

    /// The highest versions that packs have elsewhere than in the listing of the sources: in other channels, or, where that
    /// does not list them now, in earlier metadata. Clients may have them, so their numbers stay taken. Throws `limit` where a host
    /// has more of these than can be read: a number could be given twice.
    func takenVersions(of ids: [PackID]) async throws(VaultError) -> [PackID: UInt64] {
        var highest = promoted.compactMapValues(\.first?.version)
        let ids = Set(ids.filter { pendingPacks[$0] == nil && listed[$0] == nil })
        guard !ids.isEmpty else { return highest }
        try await host?.readWholeHistory(of: ids)
        highest.merge(try history.highestVersions(of: ids), uniquingKeysWith: max)
        for id in ids {
            // A team lists it now, the vault itself from now on.
            guard let version = state.listedVersion(of: id) else { continue }
            highest[id] = max(highest[id] ?? 0, version)
        }
        return highest
    }

    private static func promotedPacks(of session: AuthorSession) -> [PackID: [PackManifest]] {
        let structure = session.settings.structure
        let listings = structure.channels.dropFirst().map { session.published.ownListing(in: $0) }
        return Dictionary(grouping: listings.flatMap(\.packs).map(\.pack), by: \.id).mapValues {
            $0.sorted { $0.version > $1.version }
        }
    }

    /// Sealed packs whose listing waits for signatures: sealing them again would use another content key.
    private static func packs(pendingIn session: AuthorSession) throws(VaultError)
        -> [PackID: PackManifest]
    {
        let pending = PendingMetadata(vault: session.vault)
        let channel = session.settings.structure.sourceChannel
        var packs: [PackID: PackManifest] = [:]
        for role in try pending.roles()
        where role == .targets || role == session.settings.structure.ownRole || channel.owns(role) {
            for (path, json) in try pending.file(of: role)?.document.signed.object("targets", at: "pending")
                ?? [:]
            {
                guard case .object(let json) = json, let id = PackID(targetPath: path) else { continue }
                packs[id] = try? PackManifest(parsing: json, place: path)
            }
        }
        return packs
    }
}
