import SystemPackage
import UpdateFramework
import VaultErrors

/// A file in `pending/`, and the keys whose signatures it needs.
struct MissingSignatures {
    let path: FilePath
    /// Such as `1 of 5822582e7072996c, 9f86d081884c7d65`.
    let missing: String

    init(_ file: SignedMetadata, at path: FilePath, for trusts: [RoleTrust]) throws(VaultError) {
        let metadata = try file.unverified
        self.path = path
        missing = trusts.compactMap { trust -> String? in
            let signers = trust.signers(of: metadata)
            guard signers.count < trust.threshold else { return nil }
            let others = trust.keys.filter { !signers.contains($0.key) }
            let ids = others.map { $0.id.description.prefix(16) }.joined(separator: ", ")
            return "\(trust.threshold - signers.count) of \(ids)"
        }.joined(separator: " and ")
    }
}
