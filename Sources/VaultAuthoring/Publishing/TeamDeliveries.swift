import UpdateFramework
import VaultErrors

/// What the teams have delivered. A delivery that can't be believed holds back nobody else: what the site lists of that
/// team stays, and a warning says why.
struct TeamDeliveries {
    let vault: VaultFolder
    let now: UTCTime
    private(set) var files: [SignedMetadata] = []
    private(set) var warnings: [String] = []

    init(vault: VaultFolder, now: UTCTime) {
        self.vault = vault
        self.now = now
    }

    /// - Parameter listed: what the site lists of the team now; without it there is nothing to fall back on, and what is
    ///   wrong is thrown.
    mutating func take(from team: SiteStructure.Team, after listed: MetadataReference?) throws(VaultError) {
        let delivery = TeamImport(vault: vault, team: team, now: now)
        do throws(VaultError) {
            if let file = try delivery.run(after: listed) { files.append(file) }
        } catch {
            guard let listed, error.category != .io else { throw error }
            warnings.append(
                "the team '\(team.role)' stays at version \(listed.version): \(error.place): \(error.problem)"
            )
        }
        warnings += try delivery.warnings()
    }
}
