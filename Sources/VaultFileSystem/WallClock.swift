internal import CVaultSystem

/// The time of day, used for people and expiry dates only.
public enum WallClock {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    public static var secondsSince1970: Int64 { vault_now() }
}
