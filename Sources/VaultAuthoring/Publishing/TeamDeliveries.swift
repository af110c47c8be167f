import UpdateFramework
import VaultErrors

/// What the teams have delivered. A delivery that can't be believed holds back nobody else: what the site lists of that
/// team stays, and a warning says why.
struct TeamDeliveries {
    private(set) var files: [SignedMetadata] = []
    private(set) var warnings: [String] = []

    /// - Parameter listed: what the site lists of the team now; without it there is nothing to fall back on, and what is
    ///   wrong is thrown.
    mutating func take(_ delivery: TeamImport, after listed: MetadataReference?) throws(VaultError) {
        do throws(VaultError) {
            if let file = try delivery.run(after: listed) { files.append(file) }
        } catch {
            guard let listed, !error.isOfStorage, !error.isCancellation else { throw error }
            warnings.append(
                "the team '\(delivery.team.role)' stays at version \(listed.version): \(error.place): \(error.problem);"
                    + " \(error.remedy)"
            )
        }
        warnings += delivery.warnings
    }
}
