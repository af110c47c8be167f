import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// A local pack, and the source of its manifest.
struct LocalPack {
    enum Origin {
        case beside
        case file(FilePath)
        /// A site's signed metadata, and the root that it must follow from.
        case site(Site, trustedRoot: FilePath)
    }

    let path: FilePath
    var origin = Origin.beside

    /// The pack with its manifest, if there is one.
    func open() async throws(VaultError) -> PackFile {
        let file = OpenFileReference(try OpenFile(reading: path))
        return try PackFile(file, as: try await manifest(of: file))
    }

    /// The pack read with a key.
    func unlock(_ keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        let file = try await open()
        do {
            return try await OpenPack(file, keys: keys)
        } catch {
            guard error.category == .key, file.manifest == nil else { throw error }
            throw VaultError(
                .missing, "there is no manifest beside the pack, so its key can't be unwrapped",
                at: PackManifestFile.path(beside: path).string,
                remedy: "give --manifest FILE, or --site URL-or-DIR with --trust ROOT for signed metadata")
        }
    }

    /// Nil when none was named and none is beside the pack.
    private func manifest(of pack: OpenFileReference) async throws(VaultError) -> PackManifest? {
        switch origin {
        case .file(let path): return try PackManifestFile.read(path)
        case .site(let site, let root): return try await manifest(of: pack, from: site, trusting: root)
        case .beside:
            guard let path = try manifestBeside else { return nil }
            let next = PackManifestFile.next(path)
            // A run that was killed named the pack and not yet the manifest.
            if try FileSystem.exists(next), let manifest = try? PackManifestFile.read(next),
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
                for found in [beside, PackManifestFile.next(beside)]
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
