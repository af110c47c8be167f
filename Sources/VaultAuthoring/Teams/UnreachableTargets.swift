import UpdateFramework
import VaultErrors

extension TeamDelivery {
    /// Targets that the team lists outside of its paths; nil where there are none.
    var unreachableTargets: Finding? {
        let outside = (targets?.records ?? []).filter { !delegation.covers($0.path) }
        return outside.first.map { first in
            .warning(
                "unreachable-targets",
                "the team '\(team.role)' lists \(outside.count.counting("target")) outside of \(team.paths.joined(separator: ", ")), which no client finds: \(first.path.excerpt)",
                at: team.role.name,
                remedy: "let the team rename or remove what is there, or add its paths in vault.json")
        }
    }
}
