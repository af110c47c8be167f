import SystemPackage
import UpdateFramework
import VaultErrors

/// What becomes of version numbers that are used up, which only a thief of keys brings about: they begin again together with
/// a root that lets clients forget them.
extension SiteRenewal {
    /// Whether clients that follow to the new root forget the versions that they have seen.
    var resetsVersions: Bool { successor?.resetsVersions(since: root) ?? false }

    /// Whether metadata must be replaced now since it has the last number of all: later no client would believe a lower one.
    func beginsAgain(after old: some VerifiedMetadata) -> Bool {
        resetsVersions && old.version == NextVersions.last
    }

    /// Throws `untrusted` where no client would believe the version that a role gets next.
    func requireHigherVersion(_ role: MetadataRole, than published: Int64?) throws(VaultError) {
        guard let published, signing.versions[role] <= published else { return }
        // Which numbers are free is known only where all files are.
        guard !resetsVersions || signing.pending.vault.followsHost else { return }
        func refusal(_ remedy: String, _ hint: Hint? = nil) -> VaultError {
            VaultError(
                .untrusted,
                "version \(published) is the last one that there can be: a thief of keys has published it",
                at: "role \(role)", remedy: remedy, hint: hint)
        }
        let vault = signing.pending.vault
        if vault.followsHost {
            throw refusal("replace the stolen keys in the vault that has the whole site/, and upload that")
        }
        if let waiting = try signing.pending.file(of: .root), try root.losesKeys(to: waiting) {
            throw refusal(
                "sign \(vault.pending)/\(waiting.document.hostedName) where the keys of the root are kept, then publish again",
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
