import SealedPack
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultSite

/// Earlier versions of packs, out of metadata that a vault has signed itself at any time: a record counts when a root of
/// the vault's chain names the keys of the file that lists it, or the team's own key signed it.
struct PackHistory {
    private let vault: VaultFolder
    private let folder: MetadataFolder

    init(of vault: VaultFolder) {
        self.vault = vault
        folder = MetadataFolder(vault.metadata)
    }

    /// The record of one version; `newest` is what the site lists now.
    func pack(_ id: PackID, version: UInt64, newest: PackDescriptor?) throws(VaultError) -> PackDescriptor {
        if let newest, newest.version == version { return newest }
        let trusts = try trusts()
        for file in try targetsFiles() {
            guard let listing = try listing(of: id, in: file, trusts), listing.version == version else {
                continue
            }
            return listing
        }
        throw VaultError(
            .missing, "no metadata that is kept lists version \(version) of '\(id)'",
            at: vault.metadata.string,
            remedy: "choose a version that was not pruned, or restore a backup of site/")
    }

    /// Every version that is kept, the newest first.
    func versions(of id: PackID) throws(VaultError) -> [UInt64] {
        var versions: Set<UInt64> = []
        let trusts = try trusts()
        for file in try targetsFiles() {
            if let listing = try listing(of: id, in: file, trusts) { versions.insert(listing.version) }
        }
        return versions.sorted(by: >)
    }

    /// All files of targets roles, the newest first.
    private func targetsFiles() throws(VaultError) -> [MetadataVersion] {
        try folder.versions().filter { $0.role?.type == .targets }.sorted { $0.version > $1.version }
    }

    /// What a file says of a pack, if the file was signed by somebody whom the vault trusted at some time.
    private func listing(
        of id: PackID, in file: MetadataVersion, _ trusts: [RoleTrust]
    ) throws(VaultError) -> PackDescriptor? {
        guard let role = file.role, let bytes = try folder.file(named: file.hostedName, limit: role.sizeLimit)
        else { return nil }
        let metadata = try UnverifiedMetadata(parsing: bytes, as: role, place: file.hostedName)
        guard case .object(let targets)? = metadata.document.signed["targets"],
            case .object(let json)? = targets[id.targetPath],
            trusts.contains(where: { $0.isMet(by: metadata) })
        else { return nil }
        return try PublishedPacks.Listing(try TargetRecord(path: id.targetPath, json: json)).pack
    }

    /// Who signed for the vault's packs at any time: whom its roots named for the targets, or a team itself.
    private func trusts() throws(VaultError) -> [RoleTrust] {
        guard let team = try VaultSettings(reading: vault.settings).structure.ownRole else {
            return try roots().map { $0.trust(in: .targets) }
        }
        let path = vault.publicKey(of: team)
        let pem = try DurableFile.read(path, limit: 1 << 16)
        guard let key = VerifyingKey(pem: pem.span) else {
            throw VaultError(
                .key, "it is no public key in PEM", at: path.string,
                remedy: "write it again: 'openssl pkey -in \(vault.signingKey(of: team)) -pubout'")
        }
        return [RoleTrust([MetadataKey(key)])]
    }

    /// The vault's roots, from the pinned one on, each believed because of the one before it.
    private func roots() throws(VaultError) -> [VerifiedRoot] {
        let pinned = try folder.file(
            named: MetadataRole.root.hostedName(version: 1), limit: MetadataRole.root.sizeLimit)
        guard let pinned else { return [] }
        var roots = [
            try VerifiedRoot(pinning: UnverifiedMetadata(parsing: pinned, as: .root, place: "1.root.json"))
        ]
        while let last = roots.last {
            let name = MetadataRole.root.hostedName(version: last.version + 1)
            guard let bytes = try folder.file(named: name, limit: MetadataRole.root.sizeLimit) else { break }
            roots.append(
                try last.successor(verifying: UnverifiedMetadata(parsing: bytes, as: .root, place: name)))
        }
        return roots
    }
}
