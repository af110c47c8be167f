import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite

/// A folder with verified metadata of a host.
struct MetadataCopy {
    let site: Site
    let folder: MetadataFolder
    /// From the first one on.
    let roots: [VerifiedRoot]

    /// - Parameters:
    ///   - tree: the verified metadata of the host.
    ///   - pinned: one of the site's roots.
    init(
        of tree: TargetTree, at site: Site, pinned: VerifiedRoot, in folder: MetadataFolder
    ) async throws(VaultError) {
        self.site = site
        self.folder = folder
        roots = try await Self.roots(of: site, through: pinned, to: tree.chain.root)
        let chain = tree.chain
        for root in roots { try write(root.document) }
        for role in tree.targetsRoles { try write(role.document) }
        for document in [chain.snapshot.document, chain.timestamp.document] { try write(document) }
    }

    /// Includes roots before the pinned one: verification without a pinned root begins with the first.
    private static func roots(
        of site: Site, through pinned: VerifiedRoot, to newest: VerifiedRoot
    ) async throws(VaultError) -> [VerifiedRoot] {
        guard let roots = try await RootHistory(fromFirstRootOf: site, upTo: newest.version)?.roots else {
            throw VaultError(
                .unavailable, "the host does not have it",
                at: site.place(of: MetadataRole.root.hostedName(version: 1)),
                remedy: "upload it again; a site always keeps all its roots")
        }
        for known in [pinned, newest] where !roots.contains(where: { $0.digest == known.digest }) {
            let name = MetadataRole.root.hostedName(version: known.version)
            throw VaultError(
                .untrusted, "its roots do not lead to the vault's root", at: site.place(of: name),
                remedy: "do not use this host; upload all roots of your site again")
        }
        return roots
    }

    /// Fetches files of an unfinished upload, newer than a role's published one: clients may have them, so their
    /// numbers are taken.
    func readUnfinished(after newest: Int64, of role: MetadataRole) async throws(VaultError) {
        for version in (newest + 1)...(newest + 64) {
            guard let metadata = try await metadata(of: role, version: version) else { return }
            guard isSigned(metadata) else {
                throw VaultError(
                    .untrusted, "the host has a version that the vault's keys have not signed",
                    at: site.place(of: role.hostedName(version: version)),
                    remedy: "finish the upload that it belongs to, or remove it")
            }
            try write(metadata.document)
        }
    }

    /// Fetches the files before a role's newest, up to the first gap.
    func readEarlier(than newest: Int64, of role: MetadataRole, atMost count: Int64) async throws(VaultError)
    {
        var version = newest - 1
        while version >= max(1, newest - count) {
            guard let metadata = try? await metadata(of: role, version: version), isSigned(metadata) else {
                return
            }
            try write(metadata.document)
            version -= 1
        }
    }

    /// Fetches the files up to a version of a role that the host still has, the newest first, also those before pruned ones. Files
    /// that are not metadata, or that `isSigned` refuses, are left out. Returns the number of requests.
    @discardableResult func readAll(
        of role: MetadataRole, upTo newest: Int64, atMost limit: Int64,
        where isSigned: (UnverifiedMetadata) -> Bool
    ) async throws(VaultError) -> Int64 {
        guard newest >= 1, limit >= 1 else { return 0 }
        let versions = max(1, newest - limit + 1)...newest
        for version in versions.reversed() {
            let found: UnverifiedMetadata?
            do throws(VaultError) { found = try await metadata(of: role, version: version) } catch {
                guard error.category == .untrusted else { throw error }
                continue
            }
            if let found, isSigned(found) { try write(found.document) }
        }
        return Int64(versions.count)
    }

    private func metadata(of role: MetadataRole, version: Int64) async throws(VaultError)
        -> UnverifiedMetadata?
    {
        guard let metadata = try await site.metadata(of: role, version: version) else { return nil }
        guard metadata.document.version == version else {
            throw VaultError(
                .untrusted, "its version is \(metadata.document.version)",
                at: site.place(of: role.hostedName(version: version)),
                remedy: "do not use this host; tell its operator")
        }
        return metadata
    }

    /// By the keys of any root.
    func isSigned(_ metadata: UnverifiedMetadata) -> Bool {
        roots.contains { $0.trust(in: metadata.document.role.type).isMet(by: metadata) }
    }

    private func write(_ document: MetadataDocument) throws(VaultError) {
        try CachedFile.write(
            document.bytes.span, to: folder.path.appending(document.hostedName), permissions: 0o644)
    }
}
