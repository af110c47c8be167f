import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultSite

/// What was published last from this vault: a line `ROOT TIMESTAMP SHA256` with the versions of both, then the names of the
/// other files, such as `7.snapshot.json`. Clients would refuse metadata that follow older ones, such as a restored backup of
/// `site/`.
extension VaultFolder {
    private var memory: FilePath { path.appending(".published") }

    /// Throws `untrusted` when the site is older than what clients may have seen. Returns what the user should know.
    func requireNewest(_ tree: TargetTree?) async throws(VaultError) -> [Finding] {
        let versions = tree.map { SiteVersions($0) } ?? .none
        let last = try lastPublished().versions
        let roots =
            try await RootHistory(fromFirstRootOf: MetadataFolder(metadata), upTo: versions.root)?.roots
            ?? []
        switch versions.standing(after: last, under: roots) {
        case .follows: return []
        case .forgotten(let role): return [versions.warning(of: role, after: last)]
        case .older(let role):
            throw VaultError(
                .untrusted, versions.problem(of: role, after: last), at: site.string,
                remedy: "get the newest site/ from your host or backup, or go on from what the host has",
                hint: .publishingFromHost)
        }
    }

    /// Throws `untrusted` when a host is older than what was published from here, or waits to be uploaded. Returns what the user
    /// should know.
    ///
    /// - Parameter roots: the host's, from the first one on.
    func requireNoNewer(
        than tree: TargetTree, under roots: [VerifiedRoot], at place: String
    ) async throws(VaultError) -> [Finding] {
        let hosted = SiteVersions(tree)
        let toUpload = try await versionsToUpload(after: roots)
        let last = try lastPublished().versions
        var warnings: [Finding] = []
        for earlier in [last, toUpload] {
            switch hosted.standing(after: earlier, under: roots) {
            case .follows: continue
            case .forgotten(let role): warnings.append(hosted.warning(of: role, after: earlier))
            case .older(let role):
                let waits = hosted.standing(after: toUpload, under: roots).isOlder
                throw VaultError(
                    .untrusted, hosted.problem(of: role, after: earlier), at: place,
                    remedy: waits
                        ? uploadRemedy
                        : "find out why the host went back; remove \(memory) if version"
                            + " \(earlier[role]) was never uploaded"
                )
            }
        }
        return Array(warnings.prefix(1))
    }

    private var uploadRemedy: String {
        "upload \(site) first; where that is refused, since another publisher has taken its numbers, or where it is to be published by"
            + " nobody, remove \(siteMetadata) and \(memory): nobody has seen what they hold"
    }

    /// Of the timestamp in the site's folder, with the newest of the host's roots that verifies it.
    private func versionsToUpload(after roots: [VerifiedRoot]) async throws(VaultError) -> SiteVersions {
        do throws(VaultError) {
            guard let seen = try await SeenMetadata(in: MetadataFolder(siteMetadata), under: roots) else {
                return .none
            }
            return SiteVersions(seen)
        } catch {
            guard error.category == .untrusted else { throw error }
            // Its root is not at the host.
            throw VaultError(
                .untrusted, "none of the host's roots names the keys that signed it", at: error.place,
                remedy: uploadRemedy)
        }
    }

    /// Whether a site has other content under the version that was last published from here: another publisher's
    /// upload replaced it.
    ///
    /// - Parameter roots: those of the tree, from the first one on.
    func isReplaced(by tree: TargetTree, under roots: [VerifiedRoot]) throws(VaultError) -> Bool {
        let (last, digest) = try lastPublished()
        let timestamp = tree.chain.timestamp
        return timestamp.version == last[.timestamp] && timestamp.digest != digest
            && !roots.resetVersions(since: last.root)
    }

    /// Remembers a site that was published on top of one that follows what was remembered before.
    func remember(_ tree: TargetTree) throws(VaultError) {
        let versions = SiteVersions(tree)
        guard try versions != lastPublished().versions else { return }
        let bytes = Array(versions.text(of: tree.chain.timestamp.digest).utf8)
        try DurableFile.write(bytes.span, to: memory, permissions: 0o644, replacing: true)
    }

    private func lastPublished() throws(VaultError) -> (versions: SiteVersions, digest: SHA256Digest?) {
        guard try FileSystem.exists(memory) else { return (.none, nil) }
        let text = String(decoding: try DurableFile.read(memory, limit: 16 << 20), as: UTF8.self)
        guard let (versions, digest) = SiteVersions.parse(text) else {
            throw VaultError(
                .corrupt, "it holds no versions and digest", at: memory.string,
                remedy: "remove it if site/ is the newest, as at your host")
        }
        return (versions, digest)
    }
}
