import SystemPackage
import UpdateFramework
import VaultErrors

/// The team metadata that a site publishes. A delivery that can't be verified is a warning: the listed metadata of
/// that team stays.
struct TeamImports {
    private(set) var files: [SignedMetadata] = []
    private(set) var warnings: [Finding] = []

    /// - Parameters:
    ///   - versionsAreReset: whether clients forget the versions that they have seen, under the root that is published with
    ///     this.
    ///   - output: the folder for the teams' new packs: the site's targets, or scratch.
    /// - Throws: what is wrong with the delivery of a team that the site does not list yet.
    init(
        of deliveries: [TeamDelivery], versionsAreReset: Bool, into output: FilePath
    ) throws(VaultError) {
        for delivery in deliveries {
            do throws(VaultError) {
                if let file = try delivery.files(versionsAreReset: versionsAreReset, into: output) {
                    files.append(file)
                }
            } catch {
                // Whatever it is: the packs of others are published.
                guard let listed = delivery.listed, !error.isCancellation else { throw error }
                warnings.append(
                    Finding(
                        error.with(
                            problem:
                                "the team '\(delivery.team.role)' stays at version \(listed.version): \(error.place): \(error.problem)"
                        ), as: .warning, at: delivery.team.role.name))
            }
            if let targets = delivery.unreachableTargets { warnings.append(targets) }
        }
        warnings += deliveries.overlaps
    }
}
