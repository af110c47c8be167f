import SystemPackage
import UpdateFramework
import VaultErrors

/// The public keys that may sign a file which waits for signatures, as far as it is known where the file is: a root names
/// its own; those of other files stand in the metadata of the vault around it. Where nothing is known nothing can be checked.
struct NearbyKeys {
    let keys: [MetadataKey]

    /// - Parameter path: the file, usually in a vault's `pending/`.
    init(of metadata: UnverifiedMetadata, at path: FilePath) {
        let pending = path.removingLastComponent()
        let folders = [
            pending, pending.removingLastComponent().appending("site").appending("metadata"),
            pending.removingLastComponent().appending("metadata"),
        ]
        var sources = [metadata]
        for folder in folders.map(MetadataFolder.init) {
            for role in [MetadataRole.root, .targets] {
                guard let version = try? folder.newestVersion(of: role),
                    let bytes = try? folder.file(
                        named: role.hostedName(version: version), limit: role.sizeLimit),
                    let found = try? UnverifiedMetadata(parsing: bytes, as: role, place: "nearby")
                else { continue }
                sources.append(found)
            }
        }
        var keys: [MetadataKey] = []
        for source in sources {
            let trusts =
                source.document.role == .root
                ? TopLevelRole.allCases.compactMap { try? source.rootTrust(in: $0) }
                : ((try? source.delegations) ?? []).map(\.trust)
            for key in trusts.flatMap(\.keys) where !keys.contains(key) { keys.append(key) }
        }
        self.keys = keys
    }

    /// How many signatures there are: of keys that are known only the valid ones count.
    func signatureCount(of metadata: UnverifiedMetadata) -> Int {
        let valid = Set(keys.filter { RoleTrust([$0]).isMet(by: metadata) }.map(\.id))
        return metadata.keyIDs.subtracting(Set(keys.map(\.id)).subtracting(valid)).count
    }
}
