import SealedPack
import UpdateFramework
import VaultBase
import VaultSite

/// The versions before a publication.
struct EarlierPacks {
    /// The packs that the vault lists now, in the channel of its sources.
    let listed: [PackID: ListedPack]
    let history: PackHistory
    let given: GivenVersions
    /// The listed packs by their content keys, sorted by ID.
    private let byContentKey: [ContentKeyID: [PackManifest]]
    private let pendingPacks: [PackID: PackManifest]
    /// The same of the other channels, the highest version first.
    private let promoted: [PackID: [PackManifest]]
    private let host: HostedSite?

    init(of session: AuthorSession) async throws(VaultError) {
        history = try await PackHistory(of: session)
        given = try await GivenVersions(of: session)
        host = session.host
        listed = session.sourceListing.packsByID
        byContentKey = Dictionary(grouping: listed.values.map(\.pack), by: \.contentKeyID)
            .mapValues { $0.sorted { $0.id < $1.id } }
        promoted = Dictionary(
            grouping: session.promotedListings.flatMap(\.packs).map(\.pack), by: \.id
        ).mapValues { $0.sorted { $0.version > $1.version } }
        // Sealing what waits for signatures again would use another content key.
        let channel = session.settings.structure.sourceChannel
        pendingPacks = given.pendingPacks { $0 == .targets || channel.owns($0) }
            .filter { !session.retiredKeys.contentKeys.contains($0.value.contentKeyID) }
    }

    /// Candidates for the previous version of a pack, the best first.
    func candidates(for id: PackID) -> [PackManifest] {
        [pendingPacks[id], listed[id]?.pack].compactMap(\.self) + (promoted[id] ?? [])
    }

    /// Whether any channel lists the pack's file.
    func lists(_ pack: PackManifest) -> Bool {
        let versions = (listed[pack.id]?.versions ?? []) + (promoted[pack.id] ?? [])
        return versions.contains { $0.sha256 == pack.sha256 }
    }

    /// Whether pieces of a pack with this content key may be in listed ones.
    func hasPacks(sharing key: ContentKeyID) -> Bool { byContentKey[key] != nil }

    /// The listed packs with this content key, sorted by ID.
    func packs(sharing key: ContentKeyID) -> [PackManifest] { byContentKey[key] ?? [] }

    /// A pack of the family, whose content key the others have as well.
    func member(of family: PackID, where isEligible: (PackManifest) -> Bool) -> PackManifest? {
        for known in [Array(pendingPacks.values), listed.values.map(\.pack), promoted.values.flatMap(\.self)]
        {
            let packs = known.filter { $0.offer.family == family && isEligible($0) }
            if let first = packs.min(by: { $0.id < $1.id }) { return first }
        }
        return nil
    }

    /// An earlier version that is to be listed again. Versions that are listed, or wait for signatures, have been accepted.
    func version(
        _ version: UInt64, listedAs id: PackID, declaredAs name: PackID
    ) async throws(VaultError) -> PackManifest {
        if let pack = candidates(for: id).first(where: { $0.version == version }) { return pack }
        try await host?.readWholeHistory(of: [id])
        return try history.manifest(listedAs: id, declaredAs: name, version: version)
    }
}

/// Which versions of a pack stay listed for versions of the app that the new ones are not for.
struct CompatibleVersions {
    /// The app versions that the vault still supports.
    let supported: AppVersionRange

    /// The newest listed version for each supported app version that no range admits; the newest first.
    ///
    /// - Parameters:
    ///   - versions: numbers that are not kept.
    func kept(
        of listed: ListedPack, notFor ranges: [AppVersionRange], except versions: Set<UInt64>
    ) -> [PackManifest] {
        let candidates = listed.versions.filter { !versions.contains($0.version) }
            .sorted { $0.version > $1.version }
        var kept: Set<UInt64> = []
        for app in bounds(of: candidates.map(\.offer.apps) + ranges)
        where !ranges.contains(where: { $0.admits(app) }) {
            if let match = candidates.first(where: { $0.offer.apps.admits(app) }) {
                kept.insert(match.version)
            }
        }
        return candidates.filter { kept.contains($0.version) }
    }

    /// The app versions at which the chosen pack version changes.
    private func bounds(of ranges: [AppVersionRange]) -> [AppVersion] {
        let bounds = ranges.flatMap { [$0.from, $0.before].compactMap(\.self) }
        return ([supported.from ?? .first] + bounds).filter(supported.admits)
    }
}

extension AppVersionRange {
    /// The part below another range; where that has no lower bound, the part above it.
    func outside(_ other: AppVersionRange) -> AppVersionRange {
        if let end = other.from {
            return AppVersionRange(from: from, before: before.map { min($0, end) } ?? end)
        }
        return AppVersionRange(from: [from, other.before].compactMap(\.self).max(), before: before)
    }
}
