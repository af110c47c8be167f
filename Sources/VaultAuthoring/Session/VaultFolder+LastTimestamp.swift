import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// The last timestamp that was published from this vault, as a line `ROOT TIMESTAMP SHA256` with the versions of
/// both. Clients would refuse metadata that follows an older one, such as a restored backup of `site/`.
extension VaultFolder {
    private var memory: FilePath { path.appending(".published") }

    /// Throws `untrusted` when the site is older than what clients may have seen.
    func requireNewest(_ tree: TargetTree?) throws(VaultError) {
        let version = tree.map { PublishedVersion($0) } ?? .none
        let last = try lastTimestamp().version
        guard version >= last else {
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
    func requireNoNewer(than tree: TargetTree, at place: String) throws(VaultError) {
        let hosted = PublishedVersion(tree)
        let toUpload = PublishedVersion(
            root: hosted.root, timestamp: try MetadataFolder(siteMetadata).timestampVersion() ?? 0)
        let last = max(try lastTimestamp().version, toUpload)
        guard hosted < last else { return }
        throw VaultError(
            .untrusted,
            "its version is \(hosted), but version \(last.timestamp) was published from here, under root version"
                + " \(last.root)",
            at: place,
            remedy: last.timestamp == toUpload.timestamp
                ? "upload \(site) first; or remove it, and \(memory), if that is to be published by nobody"
                : "find out why the host went back; remove \(memory) if version \(last.timestamp) was never uploaded"
        )
    }

    /// Whether a site has other content under the version that was last published from here: another publisher's
    /// upload replaced it.
    func isReplaced(by tree: TargetTree) throws(VaultError) -> Bool {
        let (last, digest) = try lastTimestamp()
        return tree.chain.timestamp.version == last.timestamp && tree.chain.timestamp.digest != digest
    }

    func remember(_ tree: TargetTree) throws(VaultError) {
        let version = PublishedVersion(tree)
        guard try version > lastTimestamp().version else { return }
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

/// The order of sites. The root comes first, since under a new root timestamps may begin again.
private struct PublishedVersion: Comparable, CustomStringConvertible {
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

    static func < (left: Self, right: Self) -> Bool {
        (left.root, left.timestamp) < (right.root, right.timestamp)
    }

    var description: String { "\(timestamp) under root version \(root)" }
}
