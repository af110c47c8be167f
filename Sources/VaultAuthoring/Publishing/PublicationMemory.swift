import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// A vault remembers the version of the last timestamp that it published. What followed on an older one, as after a
/// backup of `site/` was restored, clients would refuse.
extension VaultFolder {
    private var memory: FilePath { path.appending(".published") }

    /// Throws `untrusted` when the site is older than what clients may have seen.
    func requireNewest(_ tree: TargetTree?) throws(VaultError) {
        let version = tree?.chain.timestamp.version ?? 0
        let last = try lastTimestamp()
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
        let last = max(try lastTimestamp(), waiting)
        guard hosted < last else { return }
        throw VaultError(
            .untrusted, "its version is \(hosted), but version \(last) was published from here", at: place,
            remedy: last == waiting
                ? "upload \(site) first; or remove it, and \(memory), if that is to be published by nobody"
                : "find out why the host went back; remove \(memory) if version \(last) was never uploaded")
    }

    func remember(_ tree: TargetTree) throws(VaultError) {
        let version = tree.chain.timestamp.version
        guard try version > lastTimestamp() else { return }
        let bytes = Array("\(version)\n".utf8)
        try DurableFile.write(bytes.span, to: memory, permissions: 0o644, replacing: true)
    }

    /// 0 before anything was published.
    private func lastTimestamp() throws(VaultError) -> Int64 {
        guard try FileSystem.exists(memory) else { return 0 }
        let text = String(decoding: try DurableFile.read(memory, limit: 32), as: UTF8.self)
        guard text.hasSuffix("\n"), let version = Int64(text.dropLast()), version >= 1 else {
            throw VaultError(
                .corrupt, "it holds no version", at: memory.string,
                remedy: "remove it if site/ is the newest, as at your host")
        }
        return version
    }
}
