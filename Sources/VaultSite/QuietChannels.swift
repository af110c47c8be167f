import SealedPack
public import UpdateFramework
public import VaultBase

/// Which channels list their packs under quiet names (``PackNames``). The role that lists a channel's packs says so, and so do the
/// packs: with them it is promoted and restored.
extension PackNames {
    /// Whether a channel with these targets has quiet names: it lists their table then.
    public static func areNeeded(for records: [TargetRecord]) -> Bool {
        records.contains { PackID(targetPath: $0.path)?.description == packID }
    }
}

extension VerifiedTargets {
    fileprivate var hasQuietNames: Bool { document.signed[PackNames.member] == .bool(true) }
}

extension TargetLookup {
    /// Whether a channel has quiet names. One role is read. Throws as ``TargetLookup/target(at:in:)`` does.
    public func hasQuietNames(_ channel: Channel, in chain: TrustChain) async throws(VaultError) -> Bool {
        // Where nothing is divided the top-level targets list the packs.
        (try await role(channel.role, in: chain) ?? chain.targets).hasQuietNames
    }
}

extension TargetTree {
    /// Whether a channel has quiet names; false where its role could not be verified.
    public func hasQuietNames(_ channel: Channel) -> Bool {
        guard chain.targets.delegations?.all.contains(where: { $0.role == channel.role }) == true else {
            return chain.targets.hasQuietNames
        }
        return delegatedRoles.first { $0.document.role == channel.role }?.hasQuietNames ?? false
    }

    /// Whether any of its channels has quiet names.
    public var hasQuietNames: Bool { chain.channels.contains(where: hasQuietNames) }
}
