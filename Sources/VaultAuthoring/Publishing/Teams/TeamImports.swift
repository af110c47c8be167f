import SystemPackage
import UpdateFramework
import VaultBase
import VaultSite

/// The team metadata that a site publishes. A delivery that can't be verified is a warning: the listed metadata of
/// that team stays.
struct TeamImports {
    private let deliveries: [TeamDelivery]
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
        self.deliveries = deliveries
        for delivery in deliveries {
            do throws(VaultError) {
                if let file = try delivery.files(versionsAreReset: versionsAreReset, into: output) {
                    files.append(file)
                }
            } catch {
                // Whatever the error is, the packs of other teams are published.
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

    /// Bytes of the imported packs that the site did not list before.
    func newBytes(after old: TargetTree?) -> UInt64 {
        let listed = (old?.targetsRoles ?? []).flatMap(\.records).flatMap(\.eachVersion)
        var paths = Set(listed.map(\.hostedPath))
        let imported = Set(files.map(\.draft.role))
        return deliveries.filter { imported.contains($0.team.role) }
            .flatMap(\.reachablePacks.packs).flatMap(\.target.eachVersion)
            .filter { paths.insert($0.hostedPath).inserted }.saturatingSum(\.length)
    }

    /// Errors that only the teams can repair in a site that was published with these files.
    func warnings(of tree: TargetTree?, after old: TargetTree?, _ period: SigningPeriod) -> [Finding] {
        warnings(of: tree, after: old, period, listingNext: [])
    }

    /// The same before anything is published. Listed packs are checked by the present settings.
    func warnings(beforePublishingAfter tree: TargetTree?, _ period: SigningPeriod) -> [Finding] {
        let next = deliveries.filter { delivery in
            guard let newest = delivery.newest else { return false }
            return !delivery.isNew || files.contains(SignedMetadata(newest))
        }
        return warnings(of: tree, after: tree, period, listingNext: next)
    }

    /// - Parameter next: the teams of which their delivery is listed, which the tree does not have.
    private func warnings(
        of tree: TargetTree?, after old: TargetTree?, _ period: SigningPeriod,
        listingNext next: [TeamDelivery]
    ) -> [Finding] {
        let teams = Set(deliveries.map(\.team.role)).subtracting(next.map(\.team.role))
        let listed =
            (tree?.delegatedRoles ?? []).filter { teams.contains($0.document.role) }
            + next.compactMap(\.targets)
        let due = listed.filter { period.isDue($0.document.role, expiring: $0.expires) }
        // A copy of a host's metadata does not have what was refused there, nor the reason.
        let known = Dictionary((old?.refusals ?? []).map { ($0.role, $0) }) { first, _ in first }
        let refused = (tree?.refusals ?? []).filter { teams.contains($0.role) }.map { known[$0.role] ?? $0 }
        // As clients see them, also where a delivery was refused.
        let withheld = (teams.isEmpty ? [] : tree?.withheldTags(of: teams) ?? []) + next.withheldTags
        return due.map {
            .warning(
                "expires-soon", "the list of the team '\($0.document.role)' expires at \($0.expires)",
                at: $0.document.role.name, remedy: "let the team publish again before then")
        }
            + refused.map {
                Finding(
                    $0.error.with(problem: "clients refuse the team '\($0.role)': \($0.error.problem)"),
                    as: .warning, at: $0.role.name)
            } + withheld
    }
}

extension TargetTree {
    /// The withheld tags of the packs of some teams.
    fileprivate func withheldTags(of teams: Set<MetadataRole>) -> [Finding] {
        let records = records.filter { $0.signer.map(teams.contains) ?? false }
        return PublishedPacks(of: records, in: chain).withheldTags
    }
}
