internal import CVaultSystem

/// The time of day, which only people and expiry dates care for.
public enum WallClock {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    public static var secondsSince1970: Int64 { vault_now() }
}
