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
        try vault.requireSnapshot(VaultSettings(reading: vault.settings))
        var request = AuthorRequest(keys: nil, now: now)
        request.host = site
        return try await vault.withSession(request) { session async throws(VaultError) in
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
            func end(of file: MetadataFileName) throws(VaultError) -> UTCTime? {
                let successor = metadata.successor(of: file) ?? file
                guard let document = try folder.metadata(in: successor)?.document else { return nil }
                // No file was published after it expired.
                return (times[successor] ?? document.expires).adding(days: grace)
            }
            var plan = SitePruning.Plan()
            for file in metadata.files {
                let length = try FileSystem.status(of: vault.metadata.appending(file.hostedName))?.size ?? 0
                try plan.decide(
                    FilePath("metadata/\(file.hostedName)"), length, metadata.kept[file], at: now
                ) { () throws(VaultError) in try end(of: file) }
            }
            for (path, listing) in metadata.lastListing.sorted(by: { $0.key < $1.key }) {
                try plan.decide(
                    FilePath("targets/\(path)"), metadata.lengths[path] ?? 0, metadata.keptTargets[path],
                    at: now
                ) { () throws(VaultError) in try end(of: listing) }
            }
            return plan
        }
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
