import SealedPack
import SystemPackage
import UpdateFramework
public import VaultErrors
import VaultFileSystem
public import VaultSite

extension SitePruning {
    /// What a host could remove, by the metadata that it has: it has no list of its files, and removes none on request. Paths are
    /// relative to the site. Packs that are gone already are named as well, where kept metadata list them.
    ///
    /// A file stays for the grace time after the metadata that replaced it were signed: they expire one period of `vault.json` later.
    ///
    /// - Throws: what ``AuthorSession`` throws for a host that can't be continued from.
    public func plan(at site: Site) async throws(VaultError) -> Plan {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            try requireSnapshot(settings)
            let session = try await AuthorSession(
                of: vault, settings, period: SigningPeriod(lifetime: settings.lifetime, now: now),
                passphrase: nil, at: site)
            guard let host = session.host else { return Plan() }
            try await host.readWholeHistory()
            let vault = session.vault
            let folder = MetadataFolder(vault.metadata)
            var metadata = try KeptMetadata(
                in: folder, tree: host.tree, now: now, versions: kept,
                signedBy: PackSigners(under: try await vault.roots(), of: host.tree))
            try metadata.keepTargets(listedIn: MetadataFolder(vault.pending))
            var plan = Plan()
            for file in metadata.files {
                let length = try FileSystem.status(of: vault.metadata.appending(file.hostedName))?.size ?? 0
                try decide(
                    "metadata/\(file.hostedName)", length, metadata.kept[file],
                    replacedBy: metadata.successor(of: file) ?? file, in: folder, settings, &plan)
            }
            for (path, listing) in metadata.lastListing.sorted(by: { $0.key < $1.key }) {
                try decide(
                    "targets/\(path)", metadata.lengths[path] ?? 0, metadata.keptTargets[path],
                    replacedBy: metadata.successor(of: listing) ?? listing, in: folder, settings, &plan)
            }
            return plan
        }
    }

    private func decide(
        _ path: String, _ length: UInt64, _ keeping: KeptMetadata.Keeping?,
        replacedBy successor: MetadataFileName, in folder: MetadataFolder, _ settings: VaultSettings,
        _ plan: inout Plan
    ) throws(VaultError) {
        if let keeping, keeping.reason == nil { return }
        let path = FilePath(path)
        if let reason = keeping?.reason {
            plan.kept.append(Kept(path: path, length: length, reason: reason))
            return
        }
        guard let metadata = try folder.metadata(in: successor)?.document else { return }
        let end = metadata.expires.adding(days: grace - settings.lifetime.days(of: metadata.role))
        guard end <= now else {
            plan.kept.append(Kept(path: path, length: length, reason: .recent(until: end)))
            return
        }
        plan.removals.append(Removal(path: path, length: length))
    }
}
