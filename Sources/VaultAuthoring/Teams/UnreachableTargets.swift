public import UpdateFramework
import VaultErrors
public import VaultSite

/// Targets that a team lists outside of its paths.
public struct UnreachableTargets: SiteNotice {
    public let team: MetadataRole
    /// Those of the team.
    public let paths: [String]
    public let count: Int
    /// Of the first target.
    public let path: String

    public var problem: String {
        "the team '\(team)' lists \(count.counting("target")) outside of \(paths.joined(separator: ", ")), which no client finds: \(path.excerpt)"
    }

    public var remedy: String {
        "let the team rename or remove what is there, or add its paths in vault.json"
    }
}

extension TeamDelivery {
    /// Nil where the team lists none.
    var unreachableTargets: UnreachableTargets? {
        let outside = (targets?.records ?? []).filter { !delegation.covers($0.path) }
        return outside.first.map {
            UnreachableTargets(team: team.role, paths: team.paths, count: outside.count, path: $0.path)
        }
    }
}
