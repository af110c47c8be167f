import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// A vault remembers the last timestamp that it published, as a line `VERSION SHA256`. What followed on an older one, as after
/// a backup of `site/` was restored, clients would refuse.
extension VaultFolder {
    private struct LastTimestamp {
        var version: Int64 = 0
        var digest: Digest?
    }

    private var memory: FilePath { path.appending(".published") }

    /// Throws `untrusted` when the site is older than what clients may have seen.
    func requireNewest(_ tree: TargetTree?) throws(VaultError) {
        let version = tree?.chain.timestamp.version ?? 0
        let last = try lastTimestamp().version
        guard version >= last else {
            throw VaultError(
                .untrusted,
                "its timestamp is version \(version), but version \(last) was published from here",
                at: site.string, remedy: "get the newest site/ from your host or backup, then try again")
        }
    }

    /// Throws `untrusted` when a host is older than what was published from here, or waits in the site's folder to be
    /// uploaded.
    func requireNoNewer(than tree: TargetTree, at place: String) throws(VaultError) {
        let hosted = tree.chain.timestamp.version
        let waiting = try MetadataFolder(siteMetadata).timestampVersion() ?? 0
        let last = max(try lastTimestamp().version, waiting)
        guard hosted < last else { return }
        throw VaultError(
            .untrusted, "its version is \(hosted), but version \(last) was published from here", at: place,
            remedy: last == waiting
                ? "upload \(site) first; or remove it, and \(memory), if that is to be published by nobody"
                : "find out why the host went back; remove \(memory) if version \(last) was never uploaded")
    }

    /// Whether a site has another content under the version that was published from here last: another publisher began
    /// from the same state, and its upload replaced this one's.
    func isReplaced(by tree: TargetTree) throws(VaultError) -> Bool {
        let last = try lastTimestamp()
        return tree.chain.timestamp.version == last.version && tree.chain.timestamp.digest != last.digest
    }

    func remember(_ tree: TargetTree) throws(VaultError) {
        let timestamp = tree.chain.timestamp
        guard try timestamp.version > lastTimestamp().version else { return }
        let bytes = Array("\(timestamp.version) \(timestamp.digest.hex)\n".utf8)
        try DurableFile.write(bytes.span, to: memory, permissions: 0o644, replacing: true)
    }

    /// Version 0 before anything was published.
    private func lastTimestamp() throws(VaultError) -> LastTimestamp {
        guard try FileSystem.exists(memory) else { return LastTimestamp() }
        let text = String(decoding: try DurableFile.read(memory, limit: 128), as: UTF8.self)
        let parts = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        guard text.hasSuffix("\n"), parts.count == 2, let version = Int64(parts[0]), version >= 1,
            let digest = Digest(hex: String(parts[1]))
        else {
            throw VaultError(
                .corrupt, "it holds no version and digest", at: memory.string,
                remedy: "remove it if site/ is the newest, as at your host")
        }
        return LastTimestamp(version: version, digest: digest)
    }
}
