public import UpdateFramework

/// The roles (hash bins) that a site's own packs are divided among. No team's role has such a name.
public enum OwnBins {
    public static let name = "packs"

    public static func contains(_ role: MetadataRole) -> Bool {
        role.name == name || role.name.hasPrefix("\(name)-")
    }
}
