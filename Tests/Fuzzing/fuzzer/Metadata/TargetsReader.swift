import UpdateFramework
import VaultBase

/// Reads all that targets metadata says, and makes a site of it where every delegated role says the same again.
struct TargetsReader {
    /// Sites of more roles are left out: they are slow and say nothing new.
    private static let roleLimit = 8

    let signer: KnownSigner
    let targets: VerifiedTargets

    /// The roles that are delegated to. Throws what never may happen.
    func read() throws(VaultError) -> [MetadataRole] {
        for record in targets.records {
            require(targets[record.path] == record, "every listed file is found")
            require(record.hostedPath.utf8.count >= record.path.utf8.count, "hosted paths are whole")
            _ = record.custom
        }
        guard let delegations = targets.delegations else { return [] }
        if case .bins(let bins) = delegations {
            for record in targets.records {
                require(bins.role(at: bins.index(of: record.path)) != nil, "every path has a bin")
            }
        }
        let roles = delegations.all.map(\.role)
        for role in roles {
            let name = role.fileName.utf8
            require(role.topLevel == nil, "nobody delegates to a top-level role")
            require((6...205).contains(name.count) && !name.contains(0x2F), "names stay in their folder")
        }
        return roles
    }

    /// Every look-up ends, and finds what the tree lists.
    func readSite(with roles: [MetadataRole]) throws(VaultError) {
        guard roles.count <= Self.roleLimit else { return }
        let site = try site(with: roles)
        wait {
            let tree = try? await TargetTree.verifying(site, pinnedRoot: nil, now: .earliest)
            for record in tree?.records ?? [] {
                require((try? tree?.record(at: record.path)) == record, "what is listed is found")
            }
        }
    }

    private func site(with roles: [MetadataRole]) throws(VaultError) -> Site {
        let reference = targets.reference
        var listing = [MetadataRole.targets: reference]
        for role in roles { listing[role] = reference }
        let snapshot = try signer.sign(
            SignedMetadata(.snapshot(version: 1, expires: .latest, listing: listing)))
        let timestamp = try signer.sign(
            SignedMetadata(.timestamp(version: 1, expires: .latest, snapshot: snapshot.reference)))
        return Site(
            files: [
                MetadataRole.root.hostedName(version: 1): signer.root.bytes,
                MetadataRole.timestamp.fileName: timestamp.bytes, snapshot.hostedName: snapshot.bytes,
            ], targets: targets.bytes)
    }
}

/// Serves the same bytes under the name of every targets role.
private struct Site: MetadataSource {
    let files: [String: [UInt8]]
    let targets: [UInt8]

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        name.hasSuffix(".root.json") || files[name] != nil ? files[name] : targets
    }
}
