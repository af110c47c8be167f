import SealedPack
package import SystemPackage
package import VaultBase
import VaultCrypto
import VaultFileSystem

/// The sealed packs that were read last, open: their catalogs and indexes are in memory, so that a further read decrypts only its
/// own pieces. An open pack holds no lock on its version; a removed version is closed at the next read.
actor OpenPackCache {
    private static let maximumCount = 8
    /// Size of all catalogs together, unless a single one is larger.
    private static let maximumBytes = 64 << 20

    private struct Kept {
        let status: FileStatus
        let file: OpenFileReference
        /// Tasks that need a pack while it is being opened wait for the same one.
        let opening: Task<Result<OpenPack, VaultError>, Never>
        var bytes = 0
    }

    /// The most recently used one is the last.
    private var kept: [Kept] = []

    func pack(of lease: PackLease, keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        kept.removeAll { ((try? $0.file.file.status().hardLinks) ?? 0) == 0 }
        let status = try lease.staged.status
        let opening: Task<Result<OpenPack, VaultError>, Never>
        if let index = kept.firstIndex(where: { $0.status.isSameFile(as: status) }) {
            let found = kept.remove(at: index)
            kept.append(found)
            opening = found.opening
        } else {
            let file = OpenFileReference(try OpenFile(reading: lease.root))
            opening = Task { @concurrent in await Self.open(file, of: lease, keys: keys) }
            kept.append(Kept(status: try file.file.status(), file: file, opening: opening))
        }
        let result = await opening.value
        guard case .success(let pack) = result else {
            kept.removeAll { $0.opening == opening }
            return try result.get()
        }
        if let index = kept.firstIndex(where: { $0.opening == opening }) {
            kept[index].bytes = pack.catalog.byteLength
        }
        while kept.count > 1,
            kept.count > Self.maximumCount || kept.reduce(0, { $0 + $1.bytes }) > Self.maximumBytes
        {
            kept.removeFirst()
        }
        return pack
    }

    private static func open(_ file: OpenFileReference, of lease: PackLease, keys: any KeyProvider) async
        -> Result<OpenPack, VaultError>
    {
        do throws(VaultError) {
            let manifest = try PackManifestFile.read(beside: lease.root)
            let pack = try PackFile(file, as: manifest).withBases(beside: lease.root)
            return .success(try await OpenPack(pack, keys: keys))
        } catch {
            return .failure(error)
        }
    }
}

/// Damage that a read meets is noted in the version itself: its file gets another time, and so another ``VersionFingerprint``. The next
/// fetch reads every byte of it, and repairs it. That needs no lock, and a reader that may not change the file only fails.
extension PackLease {
    /// Runs a read of the version that is held.
    func noting<Value>(
        damageMetBy read: nonisolated(nonsending) () async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        do throws(VaultError) { return try await read() } catch {
            if error.isMetInBytes { staged.expectVerification() }
            throw error
        }
    }
}

extension VaultStore {
    /// For a program that read a sealed pack by the path of its file, and failed. A file that is not the live version of a store is left
    /// as it is.
    package static func noteDamage(of file: FilePath, metBy error: VaultError) {
        guard error.isMetInBytes, let name = file.lastComponent?.string,
            // A file name alone is in the current folder.
            let home = try? Folder(opening: FilePath(".").pushing(file.removingLastComponent())),
            let live = (try? home.readLink("current")) ?? nil, let version = VersionName(live.string),
            [version.text, "current"].contains(name)
        else { return }
        try? StagedVersion(version, in: home)?.expectVerification()
    }
}

extension VaultError {
    /// Damage of a file that is there: one that is missing needs no note.
    var isMetInBytes: Bool { isDamage && category != .missing }
}
