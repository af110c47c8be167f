import VaultFileSystem

extension UTCTime {
    /// What the machine's clock says.
    public static var now: UTCTime { UTCTime(secondsSince1970: WallClock.secondsSince1970) ?? .latest }
}
