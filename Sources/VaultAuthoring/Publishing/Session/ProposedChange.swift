import SystemPackage
import UpdateFramework
public import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// The change that a vault is to publish next: its packs may be sealed, and nothing is signed or visible yet.
struct ProposedChange {
    /// The vault's next listings of these channels; other channels do not change.
    var listing: [Channel: [TargetRecord]] = [:]
    /// The names of opaque IDs in any channel, as far as they are known; nil takes them from the listed tables.
    var names: PackNames?
    /// The deliveries of teams that are published with it.
    var deliveries: [TeamDelivery]
    /// Which keys the root will name; nil if they do not change.
    var keys: KeyChange?
    /// The new text of `vault.json`; nil if it does not change.
    var settings: VaultSettings?

    enum KeyChange {
        /// The root names other keys, which are made or kept elsewhere.
        case root(RootChange)
        /// The vault makes a new key for a role, and the root names it.
        case rotation(TopLevelRole)

        /// The key made elsewhere that the root will name; nil where there is none.
        var addedKey: VerifyingKey? { if case .root(let change) = self { change.addedKey } else { nil } }
    }

    /// Where a change is written.
    enum Output {
        /// Into the vault.
        case vault
        /// Nowhere: the change is only reported. New packs are sealed into this folder, which is removed afterwards.
        case scratch(FilePath)

        /// The folder for new packs; nil for the vault.
        var scratch: FilePath? { if case .scratch(let folder) = self { folder } else { nil } }
    }
}

/// The metadata files that a command wrote to a site, or would write.
public struct MetadataReport: Sendable {
    public internal(set) var written: [String] = []
    /// Of a dry run: those that would be written where no key is missing.
    public internal(set) var toWrite: [String] = []
    public internal(set) var warnings: [Finding] = []
    /// The length of the packs of teams that the site did not list before.
    var importedBytes: UInt64 = 0
}

extension AuthorSession {
    /// Carries a change out, or reports it. The order: checks of the host; keys and the draft of the next root; files that an
    /// earlier run left to upload; the settings; then metadata, the timestamp last.
    ///
    /// - Throws: `usage` for a name within the paths of a team; `untrusted` for a host that shows an older state, `busy` where another
    ///   process has published to it since it was read; `key` when a file must be signed elsewhere first.
    func publish(
        _ change: ProposedChange, into output: ProposedChange.Output
    ) async throws(VaultError) -> MetadataReport {
        try retiredKeys.requireNone(among: change.listing.values.joined())
        switch (published, output) {
        case (.site(let site), .vault):
            var publisher = try await MetadataPublisher(of: site, in: self, change)
            try await host?.requireUnchanged()
            try publisher.changeKeys()
            try host?.removeSuperseded()
            try change.settings?.write(to: vault.settings)
            return try await publisher.run()
        case (.site(let site), .scratch(let folder)):
            var publisher = try await MetadataPublisher(of: site, in: self, change)
            let report = try await publisher.preview(into: folder)
            try await host?.requireUnchanged()
            return report
        case (.teamRole(let role), .vault):
            try change.settings?.write(to: vault.settings)
            return try await TeamPublisher(session: self, published: role).run(listing: records(of: change))
        case (.teamRole(let role), .scratch):
            return try TeamPublisher(session: self, published: role).preview(listing: records(of: change))
        }
    }

    /// The only listing of a team's vault.
    private func records(of change: ProposedChange) -> [TargetRecord] {
        change.listing[settings.structure.sourceChannel] ?? sourceListing.records
    }

    /// Writes metadata, as ``MetadataFolder/publish(_:now:)`` does. A vault that follows a host works on a copy of the host's metadata;
    /// it also writes the files into the folder of its site, from where they are uploaded, the timestamp last. Where no timestamp was
    /// signed, as with a root alone, that is the host's own. Older files of these names in the folder were never uploaded, so they are
    /// replaced.
    func write(_ files: [SignedMetadata], now: UTCTime) async throws(VaultError) -> TargetTree {
        let tree = try await MetadataFolder(vault.metadata).publish(files, now: now)
        guard vault.followsHost else { return tree }
        try FileSystem.createFolders(vault.siteMetadata, permissions: 0o755)
        for document in files.filter({ $0.draft.role != .timestamp }).map({ ($0.hostedName, $0.bytes) })
            + [(MetadataRole.timestamp.fileName, tree.chain.timestamp.bytes)]
        {
            try DurableFile.write(
                document.1.span, to: vault.siteMetadata.appending(document.0), permissions: 0o644,
                replacing: true)
        }
        return tree
    }
}
