public import SealedPack
import SystemPackage
public import UpdateFramework
public import VaultErrors
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

    public let selection: Selection
    public let origin: Channel
    public let destination: Channel
    public let now: UTCTime
    /// Whether a pack may go back to a lower version.
    public var allowsOlder = false
    /// For encrypted signing keys.
    public var passphrase: PassphraseSource?
    /// The host to promote at, where `site/` is incomplete: then only new files are written there.
    public var host: Site?

    public init(
        _ selection: Selection, from origin: Channel, to destination: Channel, now: UTCTime
    ) {
        self.selection = selection
        (self.origin, self.destination) = (origin, destination)
        self.now = now
    }

    /// - Throws: `usage` for channels that can't be used, and for a lower version; `missing` for a pack that the first
    ///   one does not list; `untrusted` for another pack of the same version.
    public func run(in vault: VaultFolder) async throws(VaultError) -> PromotionReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            let (session, site) = try await open(vault, settings)
            let proposal = try proposal(site, under: settings)
            try await session.prepareHost()
            let roots = try RootRenewal(of: site.root, with: MetadataSigning(for: session))
            var publisher = MetadataPublisher(
                session: session, site: site, roots: roots, deliveries: try session.deliveries())
            let written = try await publisher.run(listing: [destination: proposal.records])
            return PromotionReport(
                packs: proposal.changes, written: written.written, warnings: written.warnings)
        }
    }

    /// Reports what ``run(in:)`` would do; no file of the vault changes.
    public func preview(in vault: VaultFolder) async throws(VaultError) -> PromotionReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            let (_, site) = try await open(vault, settings)
            return PromotionReport(packs: try proposal(site, under: settings).changes)
        }
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
        for channel in [origin, destination] where !structure.channels.contains(channel) {
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
        if case .only = selection, settings.hasQuietNames {
            throw VaultError(
                .usage, "with quiet names each channel has a table of all its packs",
                at: vault.settings.string,
                remedy: "promote all packs together")
        }
        guard origin != destination else {
            throw VaultError(
                .usage, "both channels are '\(origin)'", at: "promote", remedy: "name two channels")
        }
    }

    private func proposal(
        _ site: CurrentSite, under settings: VaultSettings
    ) throws(VaultError) -> PromotionProposal {
        var proposal = PromotionProposal(
            from: site.ownListing(in: origin), to: site.ownListing(in: destination),
            keeping: CompatibleVersions(supported: settings.supportedApps))
        switch selection {
        case .all: try proposal.takeAll()
        case .only(let ids): for id in ids { try proposal.take(id, from: origin) }
        }
        try proposal.requireLine(allowingOlder: allowsOlder, in: destination)
        return proposal
    }
}
