public import UpdateFramework
import VaultErrors
public import VaultSite

/// Packs of a team at paths that are also assigned to an earlier team. By their IDs they are the earlier team's, listed or not at the
/// time (TUF section 5.6.7: the first role that lists a path decides).
public struct TeamPathOverlap: SiteNotice {
    public let earlier: MetadataRole
    public let later: MetadataRole
    public let count: Int
    /// The path of the first such pack.
    public let path: String

    public var problem: String {
        "\(count.counting("pack")) of the team '\(later)' \(count == 1 ? "is" : "are") at paths of the team '\(earlier)', whose packs come first: \(path.excerpt)"
    }

    public var remedy: String { "give the teams paths in vault.json that do not overlap" }
}

extension TeamPathOverlap {
    /// The overlaps of all pairs of teams, in the order of the settings.
    static func all(among deliveries: [TeamDelivery]) -> [TeamPathOverlap] {
        deliveries.enumerated().flatMap { number, later in
            deliveries.prefix(number).compactMap { earlier in
                let shared = (later.targets?.records ?? []).filter {
                    later.delegation.covers($0.path) && earlier.delegation.covers($0.path)
                }
                return shared.first.map {
                    TeamPathOverlap(
                        earlier: earlier.team.role, later: later.team.role, count: shared.count, path: $0.path
                    )
                }
            }
        }
    }
}
