import SystemPackage
public import UpdateFramework
import VaultCrypto
public import VaultErrors
import VaultFileSystem
public import VaultKeys
import VaultSite

/// Changes who signs for a vault's site, in an order that locks no client out: what old and new keys signed first, then
/// the root that names the new ones; with the next publication the old signatures go.
public struct TrustChange: Sendable {
    private let vault: VaultFolder
    private let passphrase: PassphraseSource?
    private let now: UTCTime

    /// What became of a change.
    public struct Report: Sendable {
        /// The files that were written to the site.
        public let written: [String]
        public let warnings: [String]
    }

    public init(of vault: VaultFolder, passphrase: PassphraseSource?, now: UTCTime) {
        self.vault = vault
        self.passphrase = passphrase
        self.now = now
    }

    /// Writes the next root, and publishes it if the keys at hand suffice; else it waits in `pending/`.
    public func apply(_ change: RootChange) async throws(VaultError) -> Report {
        let lock = try vault.beginPublishing()
        let state = try await State(of: vault, passphrase: passphrase, now: now)
        try state.signing.pending.write(try state.root.changed(by: change))
        let report = try await publish(state)
        _ = consume lock
        return report
    }

    /// Replaces the key in the role's own file by a fresh one. The old file stays, under the beginning of its key's ID:
    /// until the next root is published, its key is the one that counts.
    public func rotate(_ role: TopLevelRole) async throws(VaultError) -> Report {
        let lock = try vault.beginPublishing()
        let state = try await State(of: vault, passphrase: passphrase, now: now)
        let own = vault.signingKey(of: MetadataRole(role))
        let next = vault.keys.appending("\(role.rawValue).next.pem")
        // An attempt that did not end has made a key, and perhaps the root that names it.
        if try !FileSystem.exists(own), try FileSystem.exists(next) {
            try FileSystem.move(next, to: own, replacing: false)
        }
        guard try FileSystem.exists(own) else {
            throw VaultError(
                .key, "the key that is to be replaced is not here", at: own.string,
                remedy: "if it is kept elsewhere or lost: add-key, publish, remove-key")
        }
        if try FileSystem.exists(next) {
            // Or a publication has ended it, but for the files' names.
            let fresh = try SigningKey(reading: next, passphrase: passphrase).publicKey
            if state.current.root.trust(in: role).keys.contains(where: { $0.key == fresh }) {
                let old = try SigningKey(reading: own, passphrase: passphrase).publicKey
                try rename(old, at: own, replacedBy: next, role)
            }
        }
        let old = try SigningKey(reading: own, passphrase: passphrase).publicKey
        if try !state.root.waits(for: old, in: role) {
            try replace(old, at: own, by: next, role, state)
        }
        let report = try await publish(try await State(of: vault, passphrase: passphrase, now: now))
        _ = consume lock
        return report
    }

    /// Writes the root that names a fresh key, then gives that key the old one's name.
    private func replace(
        _ old: VerifyingKey, at own: FilePath, by next: FilePath, _ role: TopLevelRole, _ state: State
    ) throws(VaultError) {
        if try !FileSystem.exists(next) { try SigningKey.generate(at: next, passphrase: passphrase) }
        let fresh = try SigningKey(reading: next, passphrase: passphrase).publicKey
        if try !state.root.waits(for: fresh, in: role) {
            try state.signing.pending.write(
                try state.root.changed(by: .replaceKey(old, by: fresh, in: role)))
        }
        try rename(old, at: own, replacedBy: next, role)
    }

    /// Names are for people: for which role a key signs is said by the root.
    private func rename(
        _ old: VerifyingKey, at own: FilePath, replacedBy next: FilePath, _ role: TopLevelRole
    ) throws(VaultError) {
        let name = "\(role.rawValue).\(MetadataKey(old).id.description.prefix(8)).pem"
        try FileSystem.move(own, to: vault.keys.appending(name), replacing: true)
        try FileSystem.move(next, to: own, replacing: true)
        try Folder(opening: vault.keys).synchronize()
    }

    /// Signs a new timestamp over the snapshot as it is, so that clients go on believing it.
    public func refresh() async throws(VaultError) -> Report {
        let lock = try vault.beginPublishing()
        let state = try await State(of: vault, passphrase: passphrase, now: now)
        guard let tree = state.current.tree else {
            throw VaultError(
                .missing, "nothing was published yet", at: vault.site.string,
                remedy: "publish first: 'assetvault publish'")
        }
        let renewal = SiteRenewal(
            current: tree, root: state.current.root, successor: nil, signing: state.signing)
        let file = try renewal.timestamp(over: tree.chain.snapshot.reference)
        try vault.remember(try await MetadataFolder(vault.metadata).publish([file], now: now))
        _ = consume lock
        let summary = TrustSummary(of: tree, lifetime: state.settings.lifetime, now: now)
        return Report(
            written: [file.hostedName],
            warnings: summary.roles.filter { $0.role != .timestamp }.compactMap(\.warning))
    }

    private func publish(_ state: State) async throws(VaultError) -> Report {
        let listing = state.current.ownListing
        let update = SiteUpdate(
            vault: vault, settings: state.settings, current: state.current, passphrase: passphrase,
            period: state.signing.period)
        let outcome = try await update.run(listing: listing.foreign + listing.packs.map(\.target))
        return Report(written: outcome.written, warnings: outcome.warnings)
    }

    /// A vault as it is found.
    private struct State {
        let settings: VaultSettings
        let current: CurrentSite
        let signing: MetadataSigning

        init(of vault: VaultFolder, passphrase: PassphraseSource?, now: UTCTime) async throws(VaultError) {
            settings = try VaultSettings(reading: vault.settings)
            guard settings.structure.ownRole == nil else {
                throw VaultError(
                    .usage, "a team's vault has no root", at: vault.path.string,
                    remedy: "change the team's keys where its packs are listed")
            }
            current = try await CurrentSite(of: vault)
            signing = try MetadataSigning(
                for: vault, passphrase: passphrase,
                period: SigningPeriod(lifetime: settings.lifetime, now: now))
        }

        var root: RootRenewal { RootRenewal(root: current.root, signing: signing) }
    }
}

extension RootRenewal {
    /// Whether the root that waits names a key for a role that the published one does not.
    func waits(for key: VerifyingKey, in role: TopLevelRole) throws(VaultError) -> Bool {
        guard !root.trust(in: role).keys.contains(where: { $0.key == key }),
            let waiting = try signing.pending.file(of: .root), waiting.document.version == root.version + 1
        else { return false }
        return try waiting.rootTrust(in: role).keys.contains { $0.key == key }
    }

    /// The root that follows the published one with this change, on top of changes that wait already. One that waits
    /// itself, as after an attempt that did not end, is as it should be.
    func changed(by change: RootChange) throws(VaultError) -> SignedMetadata {
        var roles: [TopLevelRole: RoleTrust] = [:]
        let waiting = try signing.pending.file(of: .root)
        for role in TopLevelRole.allCases {
            roles[role] = root.trust(in: role)
            if let waiting, waiting.document.version == root.version + 1 {
                roles[role] = try waiting.rootTrust(in: role)
            }
        }
        if let trust = roles[change.role] {
            let waits = change.isMade(in: trust) && !change.isMade(in: root.trust(in: change.role))
            if !waits { roles[change.role] = try change.apply(to: trust) }
        }
        return try next(naming: roles)
    }
}
