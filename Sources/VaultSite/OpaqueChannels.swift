import SealedPack
public import UpdateFramework
public import VaultBase

/// Which channels list their packs under opaque names (``PackNames``). The role that lists a channel's packs says so, and so do the
/// packs: with them it is promoted and restored.
extension PackNames {
    /// Whether a channel with these targets has opaque names: it lists their table then.
    public static func areNeeded(for records: [TargetRecord]) -> Bool {
        records.contains { PackID(targetPath: $0.path)?.description == packID }
    }
}

extension VerifiedTargets {
    fileprivate var hasOpaqueNames: Bool { document.signed[PackNames.member] == .bool(true) }
}

extension TargetLookup {
    /// Whether a channel has opaque names. One role is read. Throws as ``TargetLookup/target(at:in:)`` does.
    public func hasOpaqueNames(_ channel: Channel, in chain: TrustChain) async throws(VaultError) -> Bool {
        // Where nothing is divided the top-level targets list the packs.
        (try await role(channel.role, in: chain) ?? chain.targets).hasOpaqueNames
    }
}

extension TargetTree {
    /// Whether a channel has opaque names; false where its role could not be verified.
    public func hasOpaqueNames(_ channel: Channel) -> Bool {
        guard chain.targets.delegations?.all.contains(where: { $0.role == channel.role }) == true else {
            return chain.targets.hasOpaqueNames
        }
        return delegatedRoles.first { $0.document.role == channel.role }?.hasOpaqueNames ?? false
    }

    /// Whether any of its channels has opaque names.
    public var hasOpaqueNames: Bool { chain.channels.contains(where: hasOpaqueNames) }
}
