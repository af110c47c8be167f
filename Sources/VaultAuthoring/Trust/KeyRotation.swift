import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// Replaces the key in a role's own file, and the root that names it. A run that was killed is finished by the next one.
struct KeyRotation {
    private let role: TopLevelRole
    private let folder: FilePath
    private let own: FilePath
    private let next: FilePath

    init(of role: TopLevelRole, in vault: VaultFolder) {
        self.role = role
        folder = vault.keys
        own = vault.signingKey(of: MetadataRole(role))
        next = vault.keys.appending("\(role.rawValue).next.pem")
    }

    /// - Throws: `key` when the role's own file is missing or can't be read.
    func run(_ roots: inout RootRenewal) throws(VaultError) {
        var fresh = try roots.signing.keys.publicKey(at: next)
        if try !FileSystem.exists(own), fresh != nil {
            // Killed between the two renames.
            try roots.signing.keys.move(next, to: own, replacing: false)
            fresh = nil
        }
        guard var old = try roots.signing.keys.publicKey(at: own) else {
            throw VaultError(
                .key, "the key that is to be replaced is not here", at: own.string,
                remedy: "if it is kept elsewhere or lost: add-key, publish, remove-key")
        }
        if let key = fresh, roots.root.trust(in: role).keys.contains(where: { $0.key == key }) {
            // Killed after the publication of the root, before the renames.
            try rename(old, &roots)
            (old, fresh) = (key, nil)
        }
        guard try !roots.waits(for: old, in: role) else { return }
        let key: VerifyingKey
        if let fresh {
            key = fresh
        } else {
            try roots.nextTrust(in: role).requireKey(old, of: role)
            key = try roots.signing.keys.generate(at: next)
        }
        if try !roots.waits(for: key, in: role) { try roots.change(.replaceKey(old, by: key, in: role)) }
        try rename(old, &roots)
    }

    /// Names are for people: the root decides for which role a key signs.
    private func rename(_ old: VerifyingKey, _ roots: inout RootRenewal) throws(VaultError) {
        let name = "\(role.rawValue).\(MetadataKey(old).id.description.prefix(8)).pem"
        try roots.signing.keys.move(own, to: folder.appending(name), replacing: true)
        try roots.signing.keys.move(next, to: own, replacing: true)
        try Folder(opening: folder).synchronize()
    }
}
