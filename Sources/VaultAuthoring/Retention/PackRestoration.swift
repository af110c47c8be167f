public import SealedPack
public import VaultErrors

extension Publication {
    /// Puts an earlier version of a pack live under newer metadata, without sealing it again. It stays until it is
    /// released, whatever the pack's source becomes.
    ///
    /// - Parameter version: nil lists the source as it is again.
    /// - Throws: `missing` for a version that no kept metadata lists, or whose pack is gone.
    public static func restore(
        _ id: PackID, to version: UInt64?, in vault: VaultFolder, _ order: PublicationOrder
    ) async throws(VaultError) -> PublicationReport {
        let highest = try PackHistory(of: vault).versions(of: id).first ?? 0
        return try await run(
            of: vault, order,
            editing: { settings throws(VaultError) in
                try settings.pin(id, to: version, above: highest)
            })
    }
}
