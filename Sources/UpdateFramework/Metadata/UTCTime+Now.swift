import VaultFileSystem

extension UTCTime {
    /// The machine's clock.
    public static var now: UTCTime { UTCTime(secondsSince1970: WallClock.secondsSince1970) ?? .latest }
}
