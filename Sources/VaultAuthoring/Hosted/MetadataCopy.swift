import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite

/// A site's metadata, kept in a folder as it is read from the host.
struct MetadataCopy: MetadataSource {
    let site: Site
    let folder: MetadataFolder

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        guard let component = FilePath.Component(name), component.kind == .regular,
            let bytes = try await site.metadata(named: name, limit: limit)
        else { return nil }
        try CachedFile.write(bytes.span, to: folder.path.appending(component), permissions: 0o644)
        return bytes
    }

    func place(of name: String) -> String { site.place(of: name) }

    /// The roots that come before the one that is pinned: whoever verifies the site as a whole begins with the first.
    func readRoots(before pinned: VerifiedRoot) async throws(VaultError) {
        for version in 1...pinned.version {
            let name = MetadataRole.root.hostedName(version: version)
            guard try await metadata(named: name, limit: MetadataRole.root.sizeLimit) == nil else { continue }
            throw VaultError(
                .unavailable, "the host does not have it", at: place(of: name),
                remedy: "upload it again; a site always keeps all its roots")
        }
    }

    /// Files that follow on a role's newest, left there by an upload that was never finished: their names are taken, since
    /// somebody may have kept the content.
    func readUnfinished(after newest: Int64, of role: MetadataRole) async throws(VaultError) {
        for version in (newest + 1)...(newest + 64) {
            let name = role.hostedName(version: version)
            guard try await metadata(named: name, limit: role.sizeLimit) != nil else { return }
        }
    }

    /// The files that came before a role's newest, as far as the host has kept them one after the other.
    func readEarlier(than newest: Int64, of role: MetadataRole, atMost count: Int64) async throws(VaultError)
    {
        var version = newest - 1
        while version >= max(1, newest - count) {
            let name = role.hostedName(version: version)
            guard try await metadata(named: name, limit: role.sizeLimit) != nil else { return }
            version -= 1
        }
    }
}
