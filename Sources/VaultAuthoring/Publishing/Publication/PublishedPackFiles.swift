import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem

/// The files of published packs, on this machine and at the host.
struct PublishedPackFiles {
    /// The site's targets.
    let targets: FilePath
    /// The folder for new packs: the site's targets, or scratch.
    let output: FilePath
    /// Provides packs that are missing from the site's folder.
    let host: HostedSite?

    /// Gives a pack its final name, which a killed publication may have done already.
    func name(_ sealed: consuming UnnamedPack) throws(VaultError) -> SealingResult {
        let result = sealed.result
        if try FileSystem.exists(path(of: result.manifest)) {
            _ = try verifiedPack(result.manifest)
        } else {
            try sealed.name(as: path(of: result.manifest, in: output))
        }
        return result
    }

    /// A pack's file, or at least its header, index and footer.
    func file(of pack: PackManifest) async throws(VaultError) -> PackFile {
        for path in [try path(of: pack), try path(of: pack, in: output)] where try FileSystem.exists(path) {
            return try PackFile(opening: path, as: pack)
        }
        guard let host else { throw missing(try path(of: pack)) }
        return try await host.pack(pack).pack
    }

    /// Removes incomplete packs of killed publications.
    func removeAbandonedScratch(of ids: [PackID]) throws(VaultError) {
        // Many packs share a folder.
        let folders = Set(ids.map { targets.appending($0.targetPath).removingLastComponent() })
        for path in folders where try FileSystem.exists(path) {
            try Folder(opening: path).removeAbandonedScratch()
        }
    }

    func folder(of id: PackID) -> FilePath {
        output.appending(id.targetPath).removingLastComponent()
    }

    private func path(of pack: PackManifest, in targets: FilePath? = nil) throws(VaultError) -> FilePath {
        let record = try TargetRecord(path: pack.id.targetPath, json: pack.json)
        return (targets ?? self.targets).appending(record.hostedPath)
    }

    private func missing(_ path: FilePath) -> VaultError {
        VaultError(
            .missing, "the published pack is not there", at: path.string,
            remedy: "restore it from your host or backup, or publish from what the host has",
            hint: .publishingFromHost)
    }

    /// A pack that waits for a signature is not at the host.
    func firstAvailable(_ packs: [PackManifest]) throws(VaultError) -> PackManifest? {
        try available(packs).first
    }

    func available(_ packs: [PackManifest]) throws(VaultError) -> [PackManifest] {
        guard let host else { return packs }
        var available: [PackManifest] = []
        for pack in packs {
            if host.lists(pack) {
                available.append(pack)
            } else if try isHere(pack) {
                available.append(pack)
            }
        }
        return available
    }

    /// Throws `missing`, `notHosted` or `corrupt` unless a version is here, or at the host.
    func require(_ pack: PackManifest) async throws(VaultError) {
        guard let host, try isOnlyHosted(pack) else {
            _ = try verifiedPack(pack)
            return
        }
        if !host.lists(pack) { _ = try await host.pack(pack) }
    }

    func isOnlyHosted(_ pack: PackManifest) throws(VaultError) -> Bool {
        guard host != nil else { return false }
        return try !isHere(pack)
    }

    func isHere(_ pack: PackManifest) throws(VaultError) -> Bool { try FileSystem.exists(path(of: pack)) }

    /// A published version, on this machine or at the host.
    func published(
        _ pack: PackManifest, key: ContentKey
    ) async throws(VaultError) -> (OpenPack, HostedPack?) {
        if let host, try isOnlyHosted(pack) {
            let hosted = try await host.pack(pack)
            return (try OpenPack(hosted.pack, key: key), hosted)
        }
        return (try OpenPack(try verifiedPack(pack), key: key), nil)
    }

    /// A pack of the site whose whole file has the signed digest.
    private func verifiedPack(_ pack: PackManifest) throws(VaultError) -> PackFile {
        let path = try path(of: pack)
        guard try FileSystem.exists(path) else { throw missing(path) }
        let file = OpenFileReference(try OpenFile(reading: path))
        guard try file.file.hasContent(length: pack.length, pack.sha256) else {
            throw VaultError(
                .corrupt, "the published pack is damaged", at: path.string,
                remedy: "restore it from your host or backup, then publish again")
        }
        return try PackFile(file, as: pack)
    }
}
