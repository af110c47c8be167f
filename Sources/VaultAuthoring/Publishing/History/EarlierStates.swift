import SystemPackage
import UpdateFramework
import VaultBase
import VaultSite

/// What a site's vault listed under earlier snapshots, as far as their metadata is kept here or at the host.
struct EarlierStates {
    private let current: TargetTree
    private let source: any MetadataSource
    private let roots: [VerifiedRoot]
    private let snapshots: SignatureHistory
    private let targets: SignatureHistory
    /// Whether metadata counts that is signed only by keys which the newest root no longer names.
    private let acceptsRemovedKeys: Bool

    /// How many snapshots are looked at for a time.
    private static let limit: Int64 = 1024

    /// - Throws: `usage` for a team's vault, which has no snapshot; `missing` before the first publication.
    init(of session: AuthorSession) async throws(VaultError) {
        let vault = session.vault
        guard let site = session.published.site else {
            throw VaultError(
                .usage, "a team's vault has no snapshot, which says what belongs together",
                at: vault.path.string, remedy: "restore each pack by its version")
        }
        guard let tree = site.tree else { throw vault.nothingPublished }
        current = tree
        source = session.host?.source ?? MetadataFolder(vault.metadata)
        roots = try await vault.roots()
        snapshots = SignatureHistory(of: .snapshot, under: roots)
        targets = SignatureHistory(of: .targets, under: roots)
        acceptsRemovedKeys = session.request.acceptsRemovedKeys
    }

    /// What the vault itself listed in a channel, and under which snapshot.
    ///
    /// - Throws: `missing` if that metadata is no longer kept, or the channel did not exist; `untrusted` if only removed keys have
    ///   signed it, unless they are accepted.
    func listing(
        of channel: Channel, at moment: SiteMoment
    ) async throws(VaultError) -> (state: PublishedSnapshot, listing: OwnPacks) {
        let version =
            switch moment {
            case .snapshot(let version): version
            case .time(let time): try await snapshot(publishedBy: time)
            }
        guard version <= current.chain.snapshot.version,
            let whole = try await current.earlier(snapshot: version, in: source, under: roots)
        else { throw notKept(version) }
        guard let tree = try? whole.following(channel) else {
            throw VaultError(
                .missing, "the site had no channel '\(channel)' then", at: place(of: version),
                remedy: "choose a later snapshot")
        }
        if let refusal = tree.refusals.first(where: { OwnRoles.contains($0.role) }) { throw refusal.error }
        try require(tree.chain.snapshot.document, snapshots)
        for role in CurrentSite.ownRoles(of: tree) { try require(role.document, targets) }
        let listing = CurrentSite(whole, isReplacement: false).ownPacks(in: channel)
        guard !listing.records.isEmpty else {
            throw VaultError(
                .missing, "the channel '\(channel)' listed nothing then", at: place(of: version),
                remedy: "choose another snapshot")
        }
        let time = PublicationTime(of: tree.chain.snapshot.document)?.time
        return (PublishedSnapshot(version: version, time: time), listing)
    }

    /// Goes back from the newest snapshot. A snapshot that is missing or has no time could be the one.
    private func snapshot(publishedBy moment: UTCTime) async throws(VaultError) -> Int64 {
        let newest = current.chain.snapshot.version
        let oldest = max(1, newest - Self.limit + 1)
        var first = PublicationTime(of: current.chain.snapshot.document)?.time
        for version in (oldest...newest).reversed() {
            guard let metadata = try await source.metadata(of: .snapshot, version: version) else {
                throw unknown(moment, "snapshot version \(version) is no longer kept", since: first)
            }
            try require(metadata.document, snapshots)
            guard let time = PublicationTime(of: metadata.document)?.time else {
                throw unknown(
                    moment, "snapshot version \(version) does not say when it was published", since: first)
            }
            if time <= moment { return version }
            first = time
        }
        if oldest > 1 {
            throw unknown(moment, "that was more than \(Self.limit) snapshots ago", since: first)
        }
        throw VaultError(
            .missing, "nothing was published by \(moment)", at: place(of: 1),
            remedy: first.map { "the first publication was at \($0)" } ?? "name a later time")
    }

    private func unknown(_ moment: UTCTime, _ reason: String, since first: UTCTime?) -> VaultError {
        let known = first.map { "name a time from \($0) on, or a snapshot's version" }
        return VaultError(
            .missing, "what was published by \(moment) is not known: \(reason)", at: source.place(of: ""),
            remedy: known ?? "name a snapshot's version")
    }

    private func notKept(_ version: Int64) -> VaultError {
        VaultError(
            .missing, "snapshot version \(version) is not kept", at: place(of: version),
            remedy: "choose one up to \(current.chain.snapshot.version) that is, or restore a backup of site/"
        )
    }

    private func place(of version: Int64) -> String {
        source.place(of: MetadataRole.snapshot.hostedName(version: version))
    }

    private func require(_ document: MetadataDocument, _ history: SignatureHistory) throws(VaultError) {
        let place = source.place(of: document.hostedName)
        switch history.standing(
            of: try UnverifiedMetadata(parsing: document.bytes, as: document.role, place: place))
        {
        case .current: return
        case .removed(let root):
            guard !acceptsRemovedKeys else { return }
            throw VaultError(
                .untrusted,
                "it is signed only by keys that root version \(root) allowed and the newest root does not",
                at: place, remedy: "if these keys were not stolen, accept what they signed",
                hint: .acceptingRemovedKeys)
        case nil:
            throw VaultError(
                .untrusted, "no key of this site has signed it", at: place,
                remedy: "remove the file, and find out where it came from")
        }
    }
}
