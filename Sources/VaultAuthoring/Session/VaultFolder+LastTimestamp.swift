import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultSite

/// The last timestamp that was published from this vault, as a line `ROOT TIMESTAMP SHA256` with the versions of
/// both. Clients would refuse metadata that follows an older one, such as a restored backup of `site/`.
extension VaultFolder {
    private var memory: FilePath { path.appending(".published") }

    /// Throws `untrusted` when the site is older than what clients may have seen.
    func requireNewest(_ tree: TargetTree?) async throws(VaultError) {
        let version = tree.map { PublishedVersion($0) } ?? .none
        let last = try lastTimestamp().version
        let roots =
            try await RootHistory(fromFirstRootOf: MetadataFolder(metadata), upTo: version.root)?.roots ?? []
        guard version.follows(last, under: roots) else {
            throw VaultError(
                .untrusted,
                "its timestamp is version \(version), but version \(last.timestamp) was published from here, under root"
                    + " version \(last.root)",
                at: site.string,
                remedy: "get the newest site/ from your host or backup, or go on from what the host has",
                hint: .publishingFromHost)
        }
    }

    /// Throws `untrusted` when a host is older than what was published from here, or waits to be uploaded.
    ///
    /// - Parameter roots: the host's, from the first one on.
    func requireNoNewer(
        than tree: TargetTree, under roots: [VerifiedRoot], at place: String
    ) async throws(VaultError) {
        let hosted = PublishedVersion(tree)
        let toUpload = try await versionToUpload(after: roots)
        let last = try lastTimestamp().version
        let newer = [last, toUpload].filter { !hosted.follows($0, under: roots) }
        guard let first = newer.first else { return }
        throw VaultError(
            .untrusted,
            "its version is \(hosted), but version \(first.timestamp) was published from here, under root version"
                + " \(first.root)",
            at: place,
            remedy: newer.contains(toUpload)
                ? uploadRemedy
                : "find out why the host went back; remove \(memory) if version \(first.timestamp) was never uploaded"
        )
    }

    private var uploadRemedy: String {
        "upload \(site) first; or remove it, and \(memory), if that is to be published by nobody"
    }

    /// Of the timestamp in the site's folder, with the newest of the host's roots that verifies it.
    private func versionToUpload(after roots: [VerifiedRoot]) async throws(VaultError) -> PublishedVersion {
        do throws(VaultError) {
            guard let seen = try await SeenMetadata(in: MetadataFolder(siteMetadata), under: roots) else {
                return .none
            }
            return PublishedVersion(root: seen.root.version, timestamp: seen.timestamp.version)
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
        let (last, digest) = try lastTimestamp()
        let timestamp = tree.chain.timestamp
        return timestamp.version == last.timestamp && timestamp.digest != digest
            && !roots.resetVersions(since: last.root)
    }

    /// Remembers a site that was published on top of one that follows what was remembered before.
    func remember(_ tree: TargetTree) throws(VaultError) {
        let version = PublishedVersion(tree)
        guard try version != lastTimestamp().version else { return }
        let bytes = Array("\(version.root) \(version.timestamp) \(tree.chain.timestamp.digest.hex)\n".utf8)
        try DurableFile.write(bytes.span, to: memory, permissions: 0o644, replacing: true)
    }

    private func lastTimestamp() throws(VaultError) -> (version: PublishedVersion, digest: SHA256Digest?) {
        guard try FileSystem.exists(memory) else { return (.none, nil) }
        let text = String(decoding: try DurableFile.read(memory, limit: 128), as: UTF8.self)
        let parts = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        guard text.hasSuffix("\n"), parts.count == 3, let root = Int64(parts[0]), root >= 1,
            let timestamp = Int64(parts[1]), timestamp >= 1, let digest = SHA256Digest(hex: String(parts[2]))
        else {
            throw VaultError(
                .corrupt, "it holds no versions and digest", at: memory.string,
                remedy: "remove it if site/ is the newest, as at your host")
        }
        return (PublishedVersion(root: root, timestamp: timestamp), digest)
    }
}

/// The versions by which sites follow each other.
private struct PublishedVersion: Equatable, CustomStringConvertible {
    /// Before anything was published.
    static let none = PublishedVersion(root: 0, timestamp: 0)

    let root: Int64
    let timestamp: Int64

    init(root: Int64, timestamp: Int64) {
        (self.root, self.timestamp) = (root, timestamp)
    }

    init(_ tree: TargetTree) {
        self.init(root: tree.chain.root.version, timestamp: tree.chain.timestamp.version)
    }

    /// Whether it is the same site or a later one. Timestamps begin again only after a root that lets clients forget them (TUF
    /// section 5.3.11): with any other root, an older timestamp is a rollback.
    ///
    /// - Parameter roots: from the first one to the root of this version.
    func follows(_ earlier: PublishedVersion, under roots: [VerifiedRoot]) -> Bool {
        guard root >= earlier.root else { return false }
        return timestamp >= earlier.timestamp || roots.resetVersions(since: earlier.root)
    }

    var description: String { "\(timestamp) under root version \(root)" }
}
