import UpdateFramework
import VaultErrors

/// What a site publishes of its teams' deliveries. One that can't be verified holds back nobody else: what the site lists of
/// that team stays, and a warning says why.
struct TeamImports {
    private(set) var files: [SignedMetadata] = []
    private(set) var warnings: [String] = []

    /// - Parameter versionsAreReset: whether clients forget which versions they have seen, with the root that is published
    ///   together with this.
    /// - Throws: what is wrong with the delivery of a team that the site does not list yet.
    init(of deliveries: [TeamDelivery], versionsAreReset: Bool) throws(VaultError) {
        for delivery in deliveries {
            do throws(VaultError) {
                if let file = try delivery.files(versionsAreReset: versionsAreReset) { files.append(file) }
            } catch {
                guard let listed = delivery.listed, !error.isStorageFailure, !error.isCancellation else {
                    throw error
                }
                warnings.append(
                    "the team '\(delivery.team.role)' stays at version \(listed.version): \(error.place): \(error.problem);"
                        + " \(error.remedy)"
                )
            }
            warnings += delivery.warnings
        }
    }
}
