import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// A local pack, and the source of its manifest.
struct LocalPack {
    enum ManifestSource {
        case beside
        case file(FilePath)
        /// A site's signed metadata, and the root that it must follow from.
        case site(Site, trustedRoot: FilePath)
    }

    let path: FilePath
    var manifestSource = ManifestSource.beside

    /// The pack with its manifest, if there is one.
    func file() async throws(VaultError) -> PackFile {
        let file = OpenFileReference(try OpenFile(reading: path))
        return try PackFile(file, as: try await manifest(of: file))
    }

    /// The pack read with a key.
    func opened(with keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        try await opened(try await file(), with: keys)
    }

    /// Its file read with a key.
    func opened(_ pack: PackFile, with keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        do {
            return try await OpenPack(pack, keys: keys)
        } catch {
            guard error.category == .key, pack.manifest == nil else { throw error }
            throw VaultError(
                .missing, "there is no manifest beside the pack, so its key can't be unwrapped",
                at: PackManifestFile.path(beside: path).string,
                remedy: "give --manifest FILE, or --site URL-or-DIR with --trust ROOT for signed metadata")
        }
    }

    /// Nil when none was named and none is beside the pack.
    private func manifest(of pack: OpenFileReference) async throws(VaultError) -> PackManifest? {
        switch manifestSource {
        case .file(let path): return try PackManifestFile.read(path)
        case .site(let site, let root): return try await manifest(of: pack, from: site, trusting: root)
        case .beside:
            guard let path = try manifestBeside else { return nil }
            let pending = PackManifestFile.pending(path)
            // A killed run may have renamed the new pack into place but not its manifest; that manifest is still `.json.next`.
            if try FileSystem.exists(pending), let manifest = try? PackManifestFile.read(pending),
                (try? PackFile(pack, as: manifest)) != nil
            {
                return manifest
            }
            return try PackManifestFile.read(path)
        }
    }

    /// The manifest's file beside the pack, if there is one.
    var manifestBeside: FilePath? {
        get throws(VaultError) {
            // A client's `current` is a link; the manifest is beside its target.
            for candidate in [try linkTarget, path] {
                let beside = PackManifestFile.path(beside: candidate)
                for found in [beside, PackManifestFile.pending(beside)]
                where try FileSystem.status(of: found, followingLinks: true)?.kind == .file { return beside }
            }
            return nil
        }
    }

    private var linkTarget: FilePath {
        get throws(VaultError) {
            guard try FileSystem.status(of: path)?.kind == .link, let name = path.lastComponent?.string
            else { return path }
            let folder = path.removingLastComponent()
            let target = try Folder(opening: folder.isEmpty ? "." : folder).readLink(name)
            return target.map { folder.pushing($0) } ?? path
        }
    }

    private func manifest(
        of pack: OpenFileReference, from site: Site, trusting root: FilePath
    ) async throws(VaultError) -> PackManifest {
        let tree = try await TargetTree.verifying(
            site, pinnedRoot: try TrustedRootOption.root(at: root), now: .now)
        return try PublishedPacks(ofAllChannelsOf: tree).manifest(
            of: try PackFile(pack, as: nil), at: pack.file.path.string)
    }
}
