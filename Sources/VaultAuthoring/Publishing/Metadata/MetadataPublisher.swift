import SystemPackage
import UpdateFramework
import VaultBase
import VaultSite

/// Publishes a site's metadata: signs what changed or would soon expire, and writes it.
struct MetadataPublisher {
    private let session: AuthorSession
    private let change: ProposedChange
    private var site: CurrentSite
    private var roots: RootRenewal
    private var vault: VaultFolder { session.vault }
    private var signing: MetadataSigning { roots.signing }
    private var deliveries: [TeamDelivery] { change.deliveries }

    /// - Throws: errors that are found before anything is written: `usage` for a name within the paths of a team; `untrusted` for a
    ///   host that shows an older root, or that may show an old state if only signatures are renewed, which would make that old
    ///   state the newest.
    init(
        of site: CurrentSite, in session: AuthorSession, _ change: ProposedChange
    ) async throws(VaultError) {
        (self.session, self.site, self.change) = (session, site, change)
        roots = try RootRenewal(of: site.root, with: MetadataSigning(for: session))
        try session.host?.requireNewestRoot(
            naming: roots.signing.keys, orWaiting: roots.pendingRoot, orAdding: change.keys?.addedKey)
        if !deliveries.isEmpty {
            let listed = session.settings.structure.searchedChannels.flatMap(records)
            let names = if let known = change.names { known } else { try await session.names(of: listed) }
            try deliveries.requireNone(listing: listed, named: names)
        }
        if let host = session.host, try await !isChange() {
            try host.requireUnexpired(
                "new signatures alone would make that the newest", remedy: HostedSite.withoutHost)
        }
    }

    private func records(in channel: Channel) -> [TargetRecord] {
        change.listing[channel] ?? site.ownPacks(in: channel).records
    }

    /// Writes keys, and the draft of the next root.
    mutating func changeKeys() throws(VaultError) {
        switch change.keys {
        case .root(let change)?: try roots.change(change)
        case .rotation(let role)?: try KeyRotation(of: role, in: vault).run(&roots)
        case nil: break
        }
    }

    /// - Throws: `key` when a file must be signed elsewhere first; it waits in `pending/` then.
    mutating func run() async throws(VaultError) -> MetadataReport {
        var report = MetadataReport()
        var root = try roots.run()
        if case .signed(let file)? = root, try await follows(file) {
            _ = try await session.write([file], now: .earliest)
            try signing.pending.remove(.root)
            report.written.append(file.hostedName)
            root = try roots.run()
        }
        var newRoot: SignedMetadata?
        switch root {
        case .signed(let file)?: newRoot = file
        case .pending(let file)?:
            report.warnings.append(
                .warning(
                    "waits-for-signatures",
                    "\(file.path) waits for signatures by \(file.missing), and the root expires at \(site.root.expires)",
                    at: MetadataRole.root.name,
                    remedy: "sign it where these keys are kept, then publish again", hint: .signing))
        case nil: break
        }
        let successor = try newRoot.map { file throws(VaultError) in
            try site.root.successor(verifying: try file.unverified)
        }
        let renewal = renewal(under: successor)
        let imports = try imports(under: renewal, into: vault.targets)
        let content = try await content(under: renewal, importing: imports.files)
        let signed = try renewal.signing(content)
        guard signed.pendingFiles.isEmpty else {
            let names = signed.pendingFiles.map { "\($0.path) (\($0.missing))" }.joined(separator: ", ")
            throw signing.keys.failure(
                for: .targets, delegatedBy: renewal.rootName,
                remedy:
                    "sign \(names) where these keys are kept, then publish again", hint: .signing)
        }
        let files = signed.files + (newRoot.map { [$0] } ?? [])
        let tree = files.isEmpty ? site.tree : try await session.write(files, now: session.period.now)
        if let tree { try vault.remember(tree) }
        for role in [MetadataRole.root] + content.roles.map(\.role)
        where files.contains(where: { $0.draft.role == role }) {
            try signing.pending.remove(role)
        }
        report.written += files.map(\.hostedName)
        report.importedBytes = imports.newBytes(after: site.tree)
        report.warnings += signed.warnings + imports.warnings
        report.warnings += imports.warnings(of: tree, after: site.tree, session.period)
        return report
    }

    /// Reports what ``run()`` would write where no key is missing.
    ///
    /// - Parameter scratch: a folder for packs of teams.
    mutating func preview(into scratch: FilePath) async throws(VaultError) -> MetadataReport {
        var root = try roots.next()
        var alone: [String] = []
        if let file = root, try await follows(file) {
            alone = [file.hostedName]
            root = try roots.next()
        }
        let successor = try root.flatMap { file throws(VaultError) in
            let metadata = try file.unverified
            return try? site.root.successor(verifying: metadata)
        }
        let renewal = renewal(under: successor)
        let imports = try imports(under: renewal, into: scratch)
        let roles = try renewal.rolesToSign(await content(under: renewal, importing: imports.files))
        return MetadataReport(
            toWrite: alone + imports.files.map(\.hostedName)
                + roles.map { $0.hostedName(version: signing.versions[$0]) }
                + (successor.map { [$0.document.hostedName] } ?? []),
            warnings: imports.warnings
                + imports.warnings(beforePublishingAfter: site.tree, session.period),
            importedBytes: imports.newBytes(after: site.tree))
    }

    private func renewal(under successor: VerifiedRoot?) -> SiteRenewal {
        SiteRenewal(
            current: site.tree, root: site.root, successor: successor, signing: signing,
            isReplacement: site.isReplacement)
    }

    private func imports(under renewal: SiteRenewal, into output: FilePath) throws(VaultError) -> TeamImports
    {
        try TeamImports(
            of: deliveries, versionsAreReset: renewal.resetsVersions && !vault.followsHost, into: output)
    }

    /// Whether more is to be published than new signatures: other packs, or other keys.
    private func isChange() async throws(VaultError) -> Bool {
        guard change.keys == nil, roots.pendingRoot == nil, !deliveries.contains(where: \.isNew) else {
            return true
        }
        let renewal = SiteRenewal(current: site.tree, root: site.root, successor: nil, signing: signing)
        let content = try await content(under: renewal)
        return content.roles.contains { renewal.changes(content.completed($0)) }
    }

    /// Publishes the new root alone if the published metadata stays valid under it, for example if it only names more keys. False
    /// for any other root.
    private mutating func follows(_ root: SignedMetadata) async throws(VaultError) -> Bool {
        // A root that is due for renewal itself would be replaced at once.
        guard site.tree != nil, !session.period.isDue(.root, expiring: root.draft.expires) else {
            return false
        }
        let tree: TargetTree
        do throws(VaultError) {
            // Expired metadata below it does not prevent the publication of a root.
            tree = try await MetadataFolder(vault.metadata).preview([root], now: .earliest)
        } catch {
            guard error.category == .untrusted else { throw error }
            return false
        }
        site = CurrentSite(tree, isReplacement: site.isReplacement)
        roots = try RootRenewal(of: site.root, with: signing)
        return true
    }

    /// The contents of each role: teams list their own packs, the channels or the top-level targets all others.
    private func content(
        under renewal: SiteRenewal, importing imports: [SignedMetadata] = []
    ) async throws(VaultError) -> SiteContent {
        let structure = session.settings.structure
        let newest = (renewal.successor ?? renewal.root).trust(in: .targets)
        let channels = structure.channelRoles(trust: newest)
        let own = channels.isEmpty ? records(in: .live) : []
        var delegations = deliveries.map(\.delegation)
        var roles: [RoleContent] = []
        for channel in channels {
            delegations.append(channel.delegation(isTerminating: !structure.channels.isEmpty))
            roles += channel.contents(of: records(in: channel.channel))
        }
        let top = RoleContent(
            role: .targets, records: own, delegations: delegations.isEmpty ? nil : .roles(delegations),
            trusts: renewal.trusts(of: .targets), hasOpaqueNames: PackNames.areNeeded(for: own),
            retiredKeys: session.retiredKeys)
        return SiteContent(
            roles: roles + [top], importing: imports, after: try await GivenVersions(of: session))
    }
}
