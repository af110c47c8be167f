import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem

/// What an upload may remove at a destination: what the site's folder, which is whole, does not have any more, since it was pruned.
///
/// Only files that are named like those of a site, and that metadata older than the newest list; never roots, and nothing that an
/// unexpired snapshot of the site or of the destination names. What another upload has begun to write is not among them.
struct HostPruning {
    private let uploaded: SiteToUpload
    private let site: FilePath
    private let now: UTCTime

    init(of uploaded: SiteToUpload, in site: FilePath, now: UTCTime) {
        (self.uploaded, self.site, self.now) = (uploaded, site, now)
    }

    /// - Throws: `usage` for a folder that has not all that is published.
    func removals(
        from sizes: [String: UInt64], _ hosted: HostedMetadata, scratch: FilePath
    ) async throws(VaultError) -> [SiteFile] {
        if let missing = try uploaded.firstMissing() {
            throw VaultError(
                .usage, "without '\(missing)' the site's folder does not show what was pruned",
                at: site.string,
                remedy: "prune from the folder that has the whole site, or upload without --prune")
        }
        let both = try await metadataOfBoth(hosted, below: scratch)
        let kept = try KeptMetadata(
            in: both, tree: uploaded.tree, now: now, versions: 0, under: uploaded.roots)
        let newest = uploaded.tree.versions
        func isEarlier(_ file: MetadataFileName) -> Bool {
            file.role != .root && file.version < newest[file.unversionedName] ?? 0
        }
        var removals: [SiteFile] = []
        for (path, size) in sizes.sorted(by: { $0.key < $1.key }) {
            let isUnneeded: Bool
            if let file = HostedMetadata.file(at: path) {
                isUnneeded = isEarlier(file) && kept.kept[file] == nil
            } else if Self.isPack(path) {
                let name = String(path.dropFirst("targets/".count))
                isUnneeded = kept.keptTargets[name] == nil && kept.lastListing[name].map(isEarlier) ?? false
            } else {
                isUnneeded = false
            }
            if isUnneeded, try !FileSystem.exists(site.appending(path)) {
                removals.append(SiteFile(path: path, length: size))
            }
        }
        return removals
    }

    /// Such as `targets/packs/maps/<digest>.start.avpack`.
    private static func isPack(_ path: String) -> Bool {
        guard path.hasPrefix("targets/packs/"), path.hasSuffix(".avpack"), !path.contains(where: \.isNewline),
            let name = path.split(separator: "/").last
        else { return false }
        return SHA256Digest(hex: String(name.prefix { $0 != "." })) != nil
    }

    /// Of a number that both have, the site's file.
    private func metadataOfBoth(
        _ hosted: HostedMetadata, below scratch: FilePath
    ) async throws(VaultError) -> MetadataFolder {
        let own = MetadataFolder(site.appending("metadata"))
        let known = Set(try own.versions())
        let others = hosted.files.filter { !known.contains($0) && $0.role != nil }
        var hosted = hosted
        try await hosted.fetch(others.map(\.hostedName))
        let both = scratch.appending("both")
        try FileSystem.createFolders(both, permissions: 0o700)
        for (folder, files) in [(hosted.folder, others), (own, Array(known))] {
            for file in files {
                guard let role = file.role,
                    let bytes = try folder.metadata(named: file.hostedName, limit: role.type.sizeLimit)
                else { continue }
                try CachedFile.write(bytes.span, to: both.appending(file.hostedName), permissions: 0o600)
            }
        }
        return MetadataFolder(both)
    }
}
