import VaultFileSystem

/// The wait that a busy host requests (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Parses the header's value: seconds, or a date, which is compared with `date`, the host's own clock, since this
    /// machine's may be wrong. Nil for anything else.
    static func wait(_ value: String, date: String?) -> Duration? {
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(UInt32(value) ?? .max)
        }
        let clock = HTTPDate(secondsSince1970: WallClock.secondsSince1970)
        guard let moment = HTTPDate(value, currentYear: clock.year) else { return nil }
        let now = date.flatMap { HTTPDate($0, currentYear: clock.year) } ?? clock
        return .seconds(max(0, moment.secondsSince1970 - now.secondsSince1970))
    }
}
