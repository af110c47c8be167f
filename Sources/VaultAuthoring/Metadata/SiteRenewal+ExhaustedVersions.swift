import SystemPackage
import UpdateFramework
import VaultErrors

/// Version numbers that a thief of keys has used up begin again under a root that lets clients forget them.
extension SiteRenewal {
    /// Whether clients of the new root forget the versions that they have seen.
    var resetsVersions: Bool { successor?.resetsVersions(since: root) ?? false }

    /// Whether metadata has the highest possible number: only under the new root clients accept a lower one.
    func restartsNumbering(after old: some VerifiedMetadata) -> Bool {
        resetsVersions && old.version == NextVersions.highestPossible
    }

    /// Throws `untrusted` where clients would refuse the next version of a role.
    func requireHigherVersion(_ role: MetadataRole, than published: Int64?) throws(VaultError) {
        guard let published, signing.versions[role] <= published else { return }
        // Only the whole site shows which numbers are free.
        guard !resetsVersions || signing.pending.vault.followsHost else { return }
        func refusal(_ remedy: String, _ hint: Hint? = nil) -> VaultError {
            VaultError(
                .untrusted,
                "version \(published) is the highest possible one: a thief of keys has published it",
                at: "role \(role)", remedy: remedy, hint: hint)
        }
        let vault = signing.pending.vault
        if vault.followsHost {
            throw refusal("replace the stolen keys in the vault that has the whole site/, and upload that")
        }
        if let pendingRoot = try signing.pending.file(of: .root), try root.losesKeys(to: pendingRoot) {
            throw refusal(
                "sign \(vault.pending)/\(pendingRoot.document.hostedName) where the keys of the root are kept, then publish again",
                .signing)
        }
        let stolen = role.type == .timestamp ? "timestamp" : "snapshot"
        throw refusal(
            "replace the \(stolen) key, and every other key that may be stolen: clients forget the versions that they"
                + " have seen", .rotation(role: stolen, vault: vault.path.string))
    }
}

extension VerifiedRoot {
    /// Whether a root that waits for signatures would let clients forget versions.
    fileprivate func losesKeys(to next: UnverifiedMetadata) throws(VaultError) -> Bool {
        for role in [TopLevelRole.timestamp, .snapshot] {
            let remaining = try next.rootTrust(in: role).keys
            if trust(in: role).keys.contains(where: { !remaining.contains($0) }) { return true }
        }
        return false
    }
}
