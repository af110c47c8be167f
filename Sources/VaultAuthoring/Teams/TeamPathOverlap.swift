import UpdateFramework
import VaultErrors

/// Packs of a team at paths that are also assigned to an earlier team. By their IDs they are the earlier team's, listed or not at the
/// time (TUF section 5.6.7: the first role that lists a path decides).
enum TeamPathOverlap {
    /// The overlaps of all pairs of teams, in the order of the settings.
    static func all(among deliveries: [TeamDelivery]) -> [Finding] {
        deliveries.enumerated().flatMap { number, later in
            deliveries.prefix(number).compactMap { earlier in
                let shared = (later.targets?.records ?? []).filter {
                    later.delegation.covers($0.path) && earlier.delegation.covers($0.path)
                }
                return shared.first.map { first in
                    .warning(
                        "overlapping-teams",
                        "\(shared.count.counting("pack")) of the team '\(later.team.role)' \(shared.count == 1 ? "is" : "are") at paths of the team '\(earlier.team.role)', whose packs come first: \(first.path.excerpt)",
                        at: later.team.role.name,
                        remedy: "give the teams paths in vault.json that do not overlap")
                }
            }
        }
    }
}
