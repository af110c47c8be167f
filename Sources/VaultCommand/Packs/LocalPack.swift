import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// A pack on this machine, and where its descriptor comes from.
struct LocalPack {
    enum Origin {
        case beside
        case file(FilePath)
        /// A site's signed metadata, and the root that it must follow from.
        case site(Site, trustedRoot: FilePath)
    }

    let path: FilePath
    var origin = Origin.beside

    /// The pack with its descriptor, if there is one.
    func open() async throws(VaultError) -> PackFile {
        let file = OpenFileReference(try OpenFile(reading: path))
        return try PackFile(file, as: try await descriptor(of: file))
    }

    /// The pack read with a key.
    func unlock(_ keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        let file = try await open()
        do {
            return try await OpenPack(file, keys: keys)
        } catch {
            guard error.category == .key, file.descriptor == nil else { throw error }
            throw VaultError(
                .missing, "there is no descriptor beside the pack, so its key can't be unwrapped",
                at: PackDescriptorFile.path(beside: path).string,
                remedy: "give --descriptor FILE, or --site URL-or-DIR with --trust ROOT for signed metadata")
        }
    }

    /// Nil when none was named and none stands beside the pack.
    private func descriptor(of pack: OpenFileReference) async throws(VaultError) -> PackDescriptor? {
        switch origin {
        case .file(let path): return try PackDescriptorFile.read(path)
        case .site(let site, let root): return try await descriptor(of: pack, from: site, trusting: root)
        case .beside:
            guard let path = try descriptorBeside else { return nil }
            let next = PackDescriptorFile.next(path)
            // Left by a run that died when the pack had its name and the descriptor had not.
            if try FileSystem.exists(next), let descriptor = try? PackDescriptorFile.read(next),
                (try? PackFile(pack, as: descriptor)) != nil
            {
                return descriptor
            }
            return try PackDescriptorFile.read(path)
        }
    }

    /// The descriptor's file beside the pack, if there is one.
    var descriptorBeside: FilePath? {
        get throws(VaultError) {
            // A client's `current` is a link; the descriptor stands beside what it points to.
            for candidate in [try linkTarget, path] {
                let beside = PackDescriptorFile.path(beside: candidate)
                for found in [beside, PackDescriptorFile.next(beside)]
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

    private func descriptor(
        of pack: OpenFileReference, from site: Site, trusting root: FilePath
    ) async throws(VaultError) -> PackDescriptor {
        let root = try DurableFile.read(root, limit: MetadataRole.root.sizeLimit)
        let tree = try await TargetTree.verifying(site, pinnedRoot: root, now: .now)
        return try PublishedPacks(of: tree).descriptor(
            of: try PackFile(pack, as: nil), at: pack.file.path.string)
    }
}
