public import SealedPack
import SystemPackage
public import UpdateFramework
import VaultBase
public import VaultCrypto
import VaultFileSystem
public import VaultSite

/// The options of an author's command, beside the vault and the change.
public struct AuthorRequest: Sendable {
    /// Packs without an audience are sealed for exactly these vault keys; nil uses those in the vault's ``VaultFolder/vaultKeys``.
    /// Where every pack is for an audience, a publication refuses given keys (`.usage`): no pack would use them.
    public let keys: (any KeyProvider)?
    /// Opens key services, for audiences that have their keys there; nil refuses these (`.usage`).
    public var keyServices: KeySpec.ServiceOpener?
    public let now: UTCTime
    /// The host to continue from, if `site/` is incomplete: then only new files are written there.
    public var host: Site?
    /// The least expiry of all metadata, for offline media.
    public var offlineUntil: UTCTime?
    /// For new pieces; nil uses the settings.
    public var compression: Compression?
    /// Limit for sources that are archives.
    public var unpackingLimit = UnpackingLimit.standard
    /// Whether findings of 'plan' refuse a publication (`.limit`), before anything is sealed.
    public var isStrict = false
    /// Whether versions may be restored that are signed only by keys removed from the root.
    public var acceptsRemovedKeys = false
    /// Whether a change is only reported: packs are sealed into scratch, and no file of the vault changes. What can't be reported before it
    /// is done, such as a new key, is refused (`.usage`).
    public var isDryRun = false

    public init(keys: (any KeyProvider)?, now: UTCTime) {
        self.keys = keys
        self.now = now
    }

    /// Before a change that has no dry run.
    func requireRealRun(_ change: String) throws(VaultError) {
        guard isDryRun else { return }
        throw VaultError(
            .usage, "\(change) has no dry run", at: "dry run",
            remedy: "make a copy of the vault, and try it there")
    }
}

/// The state of one command on a vault: each part is read and verified once, under the publisher's lock.
///
/// Publications, promotions, restorations and changes of keys each propose a ``ProposedChange``; ``publish(_:into:)`` alone carries
/// it out or reports it.
struct AuthorSession {
    let vault: VaultFolder
    var settings: VaultSettings
    let request: AuthorRequest
    let period: SigningPeriod
    /// The host's site, where the vault's own folder is incomplete.
    let host: HostedSite?
    let published: PublishedState
    /// Those of before, and what this command retires.
    private(set) var retiredKeys: RetiredKeys

    /// The same session, which never again seals for some vault keys, nor lists versions under some content keys.
    func retiring(_ ids: Set<KeyID>, contentKeys: Set<ContentKeyID> = []) -> AuthorSession {
        var session = self
        session.retiredKeys = retiredKeys.adding(ids, contentKeys: contentKeys)
        return session
    }

    fileprivate init(
        of vault: VaultFolder, _ settings: VaultSettings, _ request: AuthorRequest
    ) async throws(VaultError) {
        let host: HostedSite? =
            if let site = request.host {
                try await HostedSite(site, of: vault, settings, now: request.now)
            } else { nil }
        if request.offlineUntil != nil {
            try host?.requireUnexpired(
                "it could be replayed until then", remedy: HostedSite.withoutHost)
        }
        self.vault = host?.vault ?? vault
        self.settings = settings
        self.settings.open(request.keyServices)
        self.request = request
        period = SigningPeriod(
            lifetime: settings.lifetime, now: request.now, offlineUntil: request.offlineUntil)
        self.host = host
        if let host {
            published = .site(CurrentSite(host.tree, under: host.root, isReplacement: host.isReplacement))
        } else if let role = settings.structure.ownRole {
            published = .teamRole(
                try PublishedTeamRole(of: role, in: vault))
        } else {
            published = .site(try await CurrentSite(of: vault))
        }
        retiredKeys = try published.retiredKeys()
    }

    /// The vault keys that were given, else the vault's own: packs without an audience are sealed for these.
    var vaultKeys: any KeyProvider { request.keys ?? vault.ownKeys }

    /// Warnings about the published state.
    var warnings: [Finding] { host?.warnings ?? published.site?.warnings ?? [] }

    /// The packs that the sources were published as.
    var sourceListing: OwnPacks { published.ownPacks(in: settings.structure.sourceChannel) }

    /// The vault's own listings of the other channels.
    var promotedListings: [OwnPacks] {
        settings.structure.channels.dropFirst().map(published.ownPacks)
    }

    /// The names of opaque IDs among targets, as far as a given key opens a table of any channel.
    func names(of records: [TargetRecord]) async throws(VaultError) -> PackNames {
        let packs = OwnPacks(of: records)
        guard packs.hasOpaqueNames else { return PackNames() }
        let known = [packs, sourceListing] + promotedListings
        return try await PackPublisher(for: self).names(of: known.flatMap(\.packs).map(\.pack))
    }

    func deliveries() throws(VaultError) -> [TeamDelivery] {
        guard let site = published.site else { return [] }
        return try settings.structure.teams.map { team throws(VaultError) in
            try TeamDelivery(
                of: team, to: vault, listed: site.tree?.chain.snapshot[team.role],
                hosted: host == nil ? nil : site.tree, now: period.now)
        }
    }
}

extension VaultFolder {
    /// Makes a change, and carries it out or reports it (``AuthorRequest/isDryRun``).
    ///
    /// - Parameters:
    ///   - prepare: checks or changes the settings, before anything else is read.
    ///   - make: passes its proposal to ``AuthorSession/publish(_:into:)``.
    func carryOut<Report>(
        _ request: AuthorRequest,
        preparing prepare: (inout VaultSettings) throws(VaultError) -> Void = { _ in },
        _ make: (AuthorSession, ProposedChange.Output) async throws(VaultError) -> Report
    ) async throws(VaultError) -> Report {
        try await withSession(request, preparing: prepare) { session async throws(VaultError) in
            guard request.isDryRun else { return try await make(session, .vault) }
            let scratch = try ScratchFolder(beside: site)
            let report = try await make(session, .scratch(scratch.path))
            _ = consume scratch
            return report
        }
    }

    /// Runs `body` as the only publisher of this vault. Throws `busy` while another process publishes.
    func withSession<Result>(
        _ request: AuthorRequest,
        preparing prepare: (inout VaultSettings) throws(VaultError) -> Void = { _ in },
        _ body: (AuthorSession) async throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        try await withPublisherLock { settings async throws(VaultError) in
            var settings = settings
            try prepare(&settings)
            return try await body(AuthorSession(of: self, settings, request))
        }
    }
}
