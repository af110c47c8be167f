public import SealedPack
import SystemPackage
public import UpdateFramework
public import VaultErrors
import VaultFileSystem
public import VaultKeys
public import VaultSite

/// Lists packs of one channel in another one. Nothing is sealed: only metadata is signed and written.
public struct Promotion: Sendable {
    /// Which packs of the first channel.
    public enum Selection: Sendable {
        /// The second channel lists exactly these then.
        case all
        /// By IDs, of packs or of resource trees with all their packs.
        case only([PackID])
    }

    /// What the packs are taken from.
    enum Origin: Sendable {
        case channel(Channel)
        /// What the second channel itself listed then.
        case earlier(SiteMoment)
    }

    public let selection: Selection
    let origin: Origin
    public let destination: Channel
    public let now: UTCTime
    /// Whether a pack may go back to a lower version.
    public var allowsOlder = false
    /// For encrypted signing keys.
    public var passphrase: PassphraseSource?
    /// The host to promote at, where `site/` is incomplete: then only new files are written there.
    public var host: Site?
    /// Open tables of quiet names; what was listed before is sealed for these, and the audiences. Nil uses those in the vault's
    /// ``VaultFolder/vaultKeys``.
    public var keys: (any KeyProvider)?
    /// Whether that may be what only keys have signed which the root no longer names.
    var acceptsRemovedKeys = false

    public init(
        _ selection: Selection, from origin: Channel, to destination: Channel, now: UTCTime
    ) {
        self.selection = selection
        (self.origin, self.destination) = (.channel(origin), destination)
        self.now = now
    }

    /// Lists what the channel listed before.
    init(restoring channel: Channel, to moment: SiteMoment, now: UTCTime) {
        (selection, origin, destination, self.now) = (.all, .earlier(moment), channel, now)
        allowsOlder = true
    }

    /// - Throws: `usage` for channels that can't be used, and for a lower version; `missing` for a pack that the first
    ///   one does not list; `untrusted` for another pack of the same version.
    public func run(in vault: VaultFolder) async throws(VaultError) -> PromotionReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            let (session, site) = try await open(vault, settings)
            let (proposal, restored) = try await proposal(site, in: session)
            var publisher = try await publisher(of: site, in: session, listing: proposal)
            try await session.prepareHost()
            let metadata = try await publisher.run()
            return PromotionReport(
                channel: destination, packs: proposal.changes, restored: restored?.snapshot,
                written: metadata.written,
                warnings: proposal.warnings + (restored?.warnings ?? []) + session.warnings
                    + metadata.warnings)
        }
    }

    /// Reports what ``run(in:)`` would do; no file of the vault changes.
    public func preview(in vault: VaultFolder) async throws(VaultError) -> PromotionReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            let (session, site) = try await open(vault, settings)
            let (proposal, restored) = try await proposal(site, in: session)
            let scratch = try ScratchFolder(beside: session.vault.site)
            let metadata = try await publisher(of: site, in: session, listing: proposal)
                .preview(into: scratch.path)
            _ = consume scratch
            return PromotionReport(
                channel: destination, packs: proposal.changes, restored: restored?.snapshot,
                toWrite: metadata.written,
                warnings: proposal.warnings + (restored?.warnings ?? []) + session.warnings
                    + metadata.warnings)
        }
    }

    private func publisher(
        of site: CurrentSite, in session: AuthorSession, listing proposal: PromotionProposal
    ) async throws(VaultError) -> MetadataPublisher {
        try MetadataPublisher(
            of: site, in: session, roots: RootRenewal(of: site.root, with: MetadataSigning(for: session)),
            deliveries: session.deliveries(), listing: [destination: proposal.records],
            naming: await names(in: session, listing: proposal))
    }

    /// What quiet IDs stand for, where teams have paths that no name may be in.
    private func names(
        in session: AuthorSession, listing proposal: PromotionProposal
    ) async throws(VaultError) -> PackNames {
        let structure = session.settings.structure
        let present = structure.channels.map { session.published.ownListing(in: $0) }
        let listings = present + [OwnListing(of: proposal.records)]
        guard !structure.teams.isEmpty, listings.contains(where: \.hasQuietNames) else { return PackNames() }
        return try await PackPublisher(listingIn: session, keys: vaultKeys(of: session.vault)).names(
            of: listings.flatMap(\.packs).map(\.pack))
    }

    private func vaultKeys(of vault: VaultFolder) -> any KeyProvider {
        keys ?? FileKeyProvider(path: vault.vaultKeys)
    }

    private func open(
        _ vault: VaultFolder, _ settings: VaultSettings
    ) async throws(VaultError) -> (AuthorSession, CurrentSite) {
        try requireChannels(of: settings, in: vault)
        let session = try await AuthorSession(
            of: vault, settings, period: SigningPeriod(lifetime: settings.lifetime, now: now),
            passphrase: passphrase, at: host)
        guard case .site(let site) = session.published, site.tree != nil else {
            throw VaultError(
                .missing, "nothing was published yet", at: vault.site.string, remedy: "publish first",
                hint: .publishing)
        }
        return (session, site)
    }

    private func requireChannels(of settings: VaultSettings, in vault: VaultFolder) throws(VaultError) {
        let structure = settings.structure
        var named = [destination]
        if case .channel(let origin) = origin { named.insert(origin, at: 0) }
        for channel in named where !structure.channels.contains(channel) {
            throw VaultError(
                .usage, "the vault has no channel '\(channel)'", at: vault.settings.string,
                remedy: structure.channels.isEmpty
                    ? "name its channels there, such as \"channels\": [\"beta\", \"live\"]"
                    : "choose among \(structure.channels.map(\.name).joined(separator: ", "))"
            ).suggesting(channel.name, among: structure.channels.map(\.name))
        }
        guard destination != structure.sourceChannel else {
            throw VaultError(
                .usage, "the channel '\(destination)' lists what the sources are", at: vault.settings.string,
                remedy: "publish, or restore an earlier version")
        }
        guard Set(named).count == named.count else {
            throw VaultError(
                .usage, "both channels are '\(destination)'", at: "promote", remedy: "name two channels")
        }
    }

    private func proposal(
        _ site: CurrentSite, in session: AuthorSession
    ) async throws(VaultError) -> (PromotionProposal, RestoredListing?) {
        let offered: OwnListing
        var restored: RestoredListing?
        switch origin {
        case .channel(let channel): offered = site.ownListing(in: channel)
        case .earlier(let moment):
            let states = try await EarlierStates(of: session, acceptingRemovedKeys: acceptsRemovedKeys)
            let (snapshot, listed) = try await states.listing(of: destination, at: moment)
            let listing = try await RestoredListing(
                listed, under: snapshot, in: session, keys: vaultKeys(of: session.vault))
            (offered, restored) = (listing.listing, listing)
        }
        let present = site.ownListing(in: destination)
        if case .only = selection, offered.hasQuietNames || present.hasQuietNames {
            throw VaultError(
                .usage, "with quiet names each channel has a table of all its packs",
                at: session.vault.settings.string, remedy: "promote all packs together")
        }
        var proposal = PromotionProposal(
            from: offered, to: present,
            keeping: CompatibleVersions(supported: session.settings.supportedApps))
        switch (selection, origin) {
        case (.only(let ids), .channel(let channel)): for id in ids { try proposal.take(id, from: channel) }
        default: try proposal.takeAll()
        }
        try proposal.requireLine(allowingOlder: allowsOlder, in: destination)
        proposal.newNames = NewNames.finding(from: present, to: offered)
        return (proposal, restored)
    }
}
