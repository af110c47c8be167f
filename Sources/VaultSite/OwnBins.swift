public import UpdateFramework

/// The roles among which a site divides its own packs by the hash of their path. No team's role has such a name.
public enum OwnBins {
    public static let name = "packs"

    public static func contains(_ role: MetadataRole) -> Bool {
        role.name == name || role.name.hasPrefix("\(name)-")
    }
}
