public import UpdateFramework
public import VaultCrypto
import VaultErrors

/// A change of the keys in the next root.
public enum RootChange: Sendable {
    case addKey(VerifyingKey, to: TopLevelRole)
    /// By at least 8 digits of its ID.
    case removeKey(String, from: TopLevelRole)
    case threshold(Int, of: TopLevelRole)
    case replaceKey(VerifyingKey, by: VerifyingKey, in: TopLevelRole)

    var role: TopLevelRole {
        switch self {
        case .addKey(_, let role), .removeKey(_, let role), .threshold(_, let role),
            .replaceKey(_, _, let role):
            role
        }
    }

    /// The key that the root will name.
    var addedKey: VerifyingKey? {
        if case .addKey(let key, _) = self { key } else { nil }
    }

    /// Whether the role's keys and threshold are already so.
    func isInEffect(in trust: RoleTrust) -> Bool {
        switch self {
        case .addKey(let key, _): trust.keys.contains { $0.key == key }
        case .removeKey(let prefix, _): !trust.keys.contains { $0.id.description.hasPrefix(prefix) }
        case .threshold(let threshold, _): trust.threshold == threshold
        case .replaceKey(let old, let new, _):
            trust.keys.contains { $0.key == new } && !trust.keys.contains { $0.key == old }
        }
    }

    /// The role's trust with the change. Throws `usage` for an impossible change, such as a threshold above the number of keys.
    func applied(to trust: RoleTrust) throws(VaultError) -> RoleTrust {
        var (keys, threshold) = (trust.keys, trust.threshold)
        switch self {
        case .addKey(let key, _):
            guard !trust.keys.contains(where: { $0.key == key }) else {
                throw refusal("the key signs for it already", "nothing is to be done")
            }
            keys.append(MetadataKey(key))
        case .removeKey(let prefix, _):
            let removed = trust.keys.filter { $0.id.description.hasPrefix(prefix) }
            guard prefix.utf8.count >= 8, removed.count == 1 else {
                throw refusal(
                    "'\(prefix)' names \(removed.count) of its keys",
                    "give at least 8 digits of one of \(trust.keys.map(\.id.description).joined(separator: ", "))"
                )
            }
            keys.removeAll { removed.contains($0) }
        case .threshold(let wanted, _): threshold = wanted
        case .replaceKey(let old, let new, _):
            try trust.requireKey(old, of: role)
            keys = keys.filter { $0.key != old } + [MetadataKey(new)]
        }
        let changed = RoleTrust(keys, threshold: threshold)
        guard changed != trust else { throw refusal("this is how it is already", "nothing is to be done") }
        let count = Set(changed.keys.map(\.key)).count
        guard changed.threshold >= 1, changed.threshold <= count else {
            throw refusal(
                "\(count.counting("key")) could not meet a threshold of \(changed.threshold)",
                "name more keys first, or lower the threshold")
        }
        return changed
    }

    private func refusal(_ problem: String, _ remedy: String) -> VaultError {
        VaultError(.usage, problem, at: "role \(role.rawValue)", remedy: remedy)
    }
}

extension RoleTrust {
    /// Throws `usage` where it does not name a key that is to be replaced.
    func requireKey(_ old: VerifyingKey, of role: TopLevelRole) throws(VaultError) {
        guard !keys.contains(where: { $0.key == old }) else { return }
        throw VaultError(
            .usage, "the root does not name the key that is to be replaced", at: "role \(role.rawValue)",
            remedy: "use add-key and remove-key")
    }
}
