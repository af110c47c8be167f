import SealedPack
import StrictJSON
import SystemPackage
public import UpdateFramework
public import VaultErrors
import VaultFileSystem
public import VaultSite

/// What a host need no longer have, by the rules of ``SitePruning`` and the metadata of the host.
///
/// A host has no list of its files, and removes none on request. So packs that are gone already are named as well, where kept
/// metadata list them.
public struct HostPruning: Sendable {
    private let vault: VaultFolder
    private let site: Site
    /// The number of versions of each pack that stay.
    private let kept: Int
    /// In days.
    private let grace: Int
    private let now: UTCTime

    public init(of vault: VaultFolder, at site: Site, keeping kept: Int, grace: Int, now: UTCTime) {
        (self.vault, self.site, self.kept, self.grace, self.now) = (vault, site, kept, grace, now)
    }

    /// What the host could remove. Paths are relative to the site.
    ///
    /// A file stays for the grace time after the metadata that replaced it were published, as snapshots say; where none does, after
    /// they expired.
    ///
    /// - Throws: `untrusted` for a host whose metadata has expired: what an old state does not list may be live. What
    ///   ``AuthorSession`` throws for a host that can't be continued from.
    public func plan() async throws(VaultError) -> SitePruning.Plan {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            try vault.requireSnapshot(settings)
            let session = try await AuthorSession(
                of: vault, settings, period: SigningPeriod(lifetime: settings.lifetime, now: now),
                passphrase: nil, at: site)
            guard let host = session.host else { return SitePruning.Plan() }
            try host.requireUnexpired(
                "what that does not list may be live", remedy: "publish and upload first, then prune")
            try await host.readWholeHistory()
            let vault = session.vault
            let folder = MetadataFolder(vault.metadata)
            var metadata = try KeptMetadata(
                in: folder, tree: host.tree, now: now, versions: kept,
                signedBy: PackSigners(under: try await vault.roots(), of: host.tree))
            try metadata.keepTargets(listedIn: MetadataFolder(vault.pending))
            let times = try PublicationTimes(in: folder)
            var plan = SitePruning.Plan()
            for file in metadata.files {
                let length = try FileSystem.status(of: vault.metadata.appending(file.hostedName))?.size ?? 0
                try decide(
                    "metadata/\(file.hostedName)", length, metadata.kept[file],
                    replacedBy: metadata.successor(of: file) ?? file, in: folder, times, &plan)
            }
            for (path, listing) in metadata.lastListing.sorted(by: { $0.key < $1.key }) {
                try decide(
                    "targets/\(path)", metadata.lengths[path] ?? 0, metadata.keptTargets[path],
                    replacedBy: metadata.successor(of: listing) ?? listing, in: folder, times, &plan)
            }
            return plan
        }
    }

    private func decide(
        _ path: String, _ length: UInt64, _ keeping: KeptMetadata.Keeping?,
        replacedBy successor: MetadataFileName, in folder: MetadataFolder, _ times: PublicationTimes,
        _ plan: inout SitePruning.Plan
    ) throws(VaultError) {
        if let keeping, keeping.reason == nil { return }
        let path = FilePath(path)
        if let reason = keeping?.reason {
            plan.kept.append(SitePruning.Kept(path: path, length: length, reason: reason))
            return
        }
        guard let metadata = try folder.metadata(in: successor)?.document else { return }
        // No file was published after it expired.
        let end = (times[successor] ?? metadata.expires).adding(days: grace)
        guard end <= now else {
            plan.kept.append(SitePruning.Kept(path: path, length: length, reason: .recent(until: end)))
            return
        }
        plan.removals.append(SitePruning.Removal(path: path, length: length))
    }
}

/// When metadata were published at the latest: a snapshot that lists a file, or a later version of its role, says so.
private struct PublicationTimes {
    /// By role and version.
    private var times: [String: [Int64: UTCTime]] = [:]

    init(in folder: MetadataFolder) throws(VaultError) {
        for file in try folder.versions() where file.role == .snapshot {
            guard let snapshot = try? folder.metadata(in: file)?.document,
                let time = PublicationTime(of: snapshot)?.time
            else { continue }
            note(MetadataRole.snapshot.fileName, snapshot.version, time)
            for (name, value) in try snapshot.signed.object("meta", at: file.hostedName) {
                guard case .object(let reference) = value, case .integer(let version)? = reference["version"]
                else { continue }
                note(name, version, time)
            }
        }
    }

    private mutating func note(_ name: String, _ version: Int64, _ time: UTCTime) {
        times[name, default: [:]][version] = min(times[name]?[version] ?? time, time)
    }

    /// Nil where no snapshot says it.
    subscript(file: MetadataFileName) -> UTCTime? {
        times[file.unversionedName]?.filter { $0.key >= file.version }.values.min()
    }
}
