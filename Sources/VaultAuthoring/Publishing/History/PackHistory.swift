import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultSite

/// Earlier versions of packs, from all kept metadata that a vault has signed.
struct PackHistory {
    private let vault: VaultFolder
    private let folder: MetadataFolder
    private let signers: SignatureHistory
    /// In a team's vault, the only role that lists its packs.
    private let teamRole: MetadataRole?
    /// Where the metadata came from, for messages.
    private let source: any MetadataSource

    /// Whether metadata counts that is signed only by keys which the newest root no longer names.
    private let acceptsRemovedKeys: Bool

    init(of session: AuthorSession) async throws(VaultError) {
        vault = session.vault
        folder = MetadataFolder(vault.metadata)
        source = session.host?.source ?? folder
        acceptsRemovedKeys = session.request.acceptsRemovedKeys
        switch session.published {
        case .site:
            (signers, teamRole) = (SignatureHistory(of: .targets, under: try await vault.roots()), nil)
        case .teamRole(let published):
            (signers, teamRole) = (SignatureHistory(published.trust), published.role)
        }
    }

    /// The manifest of one kept version.
    ///
    /// - Parameters:
    ///   - id: the ID in the metadata, a digest where names are hidden.
    ///   - name: the ID in vault.json, for messages.
    /// - Throws: `untrusted` if only removed keys signed it and they are not accepted, or if two different packs were
    ///   signed with this version; `missing` if none lists it.
    func manifest(
        listedAs id: PackID, declaredAs name: PackID, version: UInt64
    ) throws(VaultError) -> PackManifest {
        var found: PackManifest?
        var refused: (file: MetadataFileName, root: Int64)?
        for file in try targetsFiles() {
            guard let (targets, standing) = try listedTargets(in: file),
                let listing = try Self.listing(of: id, among: targets), listing.version == version
            else { continue }
            if case .removed(let root) = standing, !acceptsRemovedKeys {
                refused = refused ?? (file, root)
                continue
            }
            if let found, found.sha256 != listing.sha256 {
                throw VaultError(
                    .untrusted,
                    "two packs were signed as version \(version) of '\(name)': \(found.sha256) and"
                        + " \(listing.sha256)", at: source.place(of: file.hostedName),
                    remedy: "remove the file that is not yours, and find out who signed it")
            }
            found = found ?? listing
        }
        if let found { return found }
        if let refused {
            throw VaultError(
                .untrusted,
                "version \(version) of '\(name)' is signed only by keys that root version \(refused.root) allowed and the newest root does not",
                at: source.place(of: refused.file.hostedName),
                remedy:
                    "if these keys were not stolen, accept what they signed", hint: .acceptingRemovedKeys
            )
        }
        let kept = try versions(of: id)
        throw VaultError(
            .missing, "no metadata that is kept lists version \(version) of '\(name)'",
            at: vault.followsHost ? "the host" : vault.metadata.string,
            remedy: kept.isEmpty
                ? "restore a backup of site/"
                : "choose among \(kept.map(String.init).joined(separator: ", ")), or restore a backup of site/"
        )
    }

    /// All kept versions, the newest first.
    func versions(of id: PackID) throws(VaultError) -> [UInt64] {
        var versions: Set<UInt64> = []
        for file in try targetsFiles() {
            let pack = try Self.listing(of: id, among: targets(in: file))
            if let pack { versions.insert(pack.version) }
        }
        return versions.sorted(by: >)
    }

    /// All files of the vault's own targets roles, the newest first. Others are not read, so an error in a team's file has no
    /// effect.
    private func targetsFiles() throws(VaultError) -> [MetadataFileName] {
        try folder.versions().filter { $0.role.map(isOwn) ?? false }
            .sorted { $0.version > $1.version }
    }

    private func isOwn(_ role: MetadataRole) -> Bool {
        if let teamRole { role == teamRole } else { role.listsOwnPacks }
    }

    /// The last versions of packs, the newest first, from the newest files of each role.
    func latest(_ count: Int, of ids: Set<PackID>) throws(VaultError) -> [PackID: [PackManifest]] {
        var found: [PackID: [PackManifest]] = [:]
        var filesRead: [String: Int] = [:]
        for file in try targetsFiles()
        where filesRead[file.unversionedName, default: 0] < Self.maximumFilesPerRole {
            filesRead[file.unversionedName, default: 0] += 1
            let targets = try targets(in: file)
            for id in ids {
                // A pack of a newer format is not a source of pieces.
                guard let pack = try? Self.listing(of: id, among: targets),
                    case let known = found[id] ?? [], known.count < count,
                    !known.contains(where: { $0.version == pack.version })
                else { continue }
                found[id] = known + [pack]
            }
        }
        return found
    }

    /// The vault keys in all kept metadata.
    func keyIDs() throws(VaultError) -> Set<KeyID> {
        var ids: Set<KeyID> = []
        try forEachPack { _, pack in ids.formUnion(pack.slots.map(\.keyID)) }
        return ids
    }

    /// Passes on every version in all kept metadata, with the file that lists it.
    func forEachPack(_ body: (MetadataFileName, PackManifest) -> Void) throws(VaultError) {
        for file in try targetsFiles() {
            for pack in Self.packs(among: try targets(in: file)) { body(file, pack) }
        }
    }

    /// Passes on every version in kept metadata of teams. What signed it is not verified, and files that can't be read are left out.
    func forEachPackOfTeams(_ body: (PackManifest) -> Void) throws(VaultError) {
        for file in try folder.versions() where file.role.map({ $0.topLevel == nil && !isOwn($0) }) ?? false {
            guard let metadata = try? folder.metadata(in: file),
                case .object(let targets)? = metadata.document.signed["targets"]
            else { continue }
            for pack in Self.packs(among: targets) { body(pack) }
        }
    }

    private static func packs(among targets: JSONObject) -> [PackManifest] {
        targets.flatMap { path, json -> [PackManifest] in
            guard case .object(let json) = json, let record = try? TargetRecord(path: path, json: json)
            else { return [] }
            return (try? ListedPack(record))?.versions ?? []
        }
    }

    /// Number of files of a role that are read for the last versions.
    static let maximumFilesPerRole = 16

    private static func listing(of id: PackID, among targets: JSONObject) throws(VaultError)
        -> PackManifest?
    {
        guard case .object(let json)? = targets[id.targetPath] else { return nil }
        return try ListedPack(try TargetRecord(path: id.targetPath, json: json)).pack
    }

    /// The targets of a file that accepted keys have signed, also one left by an interrupted publish; empty for files of other
    /// signers.
    private func targets(in file: MetadataFileName) throws(VaultError) -> JSONObject {
        try listedTargets(in: file)?.targets ?? [:]
    }

    /// The targets of such a file, and whether the present keys have signed it.
    private func listedTargets(
        in file: MetadataFileName
    ) throws(VaultError) -> (targets: JSONObject, standing: SignatureHistory.Standing)? {
        guard let metadata = try folder.metadata(in: file),
            case .object(let targets)? = metadata.document.signed["targets"],
            let standing = signers.standing(of: metadata)
        else { return nil }
        return (targets, standing)
    }
}
