import VaultFileSystem

/// A time in UTC, in whole seconds, in the format of TUF: `YYYY-MM-DDTHH:MM:SSZ` (TUF section 4.2.3).
public struct UTCTime: Sendable, Hashable, Comparable {
    /// POSIX time: leap seconds don't count.
    public let secondsSince1970: Int64

    /// Before every expiry: for reading metadata regardless of expiry.
    public static let earliest = UTCTime(clamping: .min)
    /// The last time with a year of four digits.
    public static let latest = UTCTime(clamping: .max)

    /// Nil unless the year is between 1 and 9999.
    public init?(secondsSince1970: Int64) {
        guard Self.range.contains(secondsSince1970) else { return nil }
        self.secondsSince1970 = secondsSince1970
    }

    private init(clamping seconds: Int64) {
        secondsSince1970 = min(max(seconds, Self.range.lowerBound), Self.range.upperBound)
    }

    /// From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    private static let range = -62_135_596_800...Int64(253_402_300_799)

    /// Later by days of 24 hours, at most ``latest``.
    public func adding(days: Int) -> UTCTime {
        let (seconds, overflow) = Int64(days).multipliedReportingOverflow(by: 86_400)
        let (sum, overflowOfSum) = secondsSince1970.addingReportingOverflow(seconds)
        let isOutOfRange = overflow || overflowOfSum
        let limit: Int64 = days < 0 ? .min : .max
        return UTCTime(clamping: isOutOfRange ? limit : sum)
    }

    public static func < (left: UTCTime, right: UTCTime) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }
}

extension UTCTime: CustomStringConvertible {
    /// Nil for any other format, invalid dates and times, and leap seconds.
    public init?(_ text: String) {
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        let bytes = Array(text.utf8)
        guard bytes.count == pattern.count else { return nil }
        var fields: [Int64] = [0]
        for (byte, expected) in zip(bytes, pattern) {
            switch (byte, expected) {
            case (UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "0")):
                fields[fields.count - 1] = fields[fields.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
            case (expected, _) where expected != UInt8(ascii: "0"): fields.append(0)
            default: return nil
            }
        }
        let (year, month, day) = (fields[0], fields[1], fields[2])
        let (hour, minute, second) = (fields[3], fields[4], fields[5])
        guard year >= 1, (1...12).contains(month), day >= 1, day <= Self.daysIn(month: month, of: year),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.days(before: month, of: year) + day - 1
        secondsSince1970 = Self.range.lowerBound + ((days * 24 + hour) * 60 + minute) * 60 + second
    }

    public var description: String {
        let seconds = secondsSince1970 - Self.range.lowerBound
        var days = seconds / 86_400
        // 400 years have 146,097 days: an estimate that may be a year off, so begin above it.
        var year = days * 400 / 146_097 + 3
        repeat { year -= 1 } while Self.days(before: 1, of: year) > days
        days -= Self.days(before: 1, of: year)
        var month: Int64 = 1
        while days >= Self.daysIn(month: month, of: year) {
            days -= Self.daysIn(month: month, of: year)
            month += 1
        }
        func padded(_ number: Int64, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map { padded($0) }
        return "\(padded(year, 4))-\(padded(month))-\(padded(days + 1))T\(clock.joined(separator: ":"))Z"
    }

    private static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func daysIn(month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 0001-01-01 to the first of the month.
    private static func days(before month: Int64, of year: Int64) -> Int64 {
        let past = year - 1
        let days = past * 365 + past / 4 - past / 100 + past / 400
        return (1..<month).reduce(days) { $0 + daysIn(month: $1, of: year) }
    }
}

extension UTCTime {
    /// The machine's clock.
    public static var now: UTCTime { UTCTime(secondsSince1970: WallClock.secondsSince1970) ?? .latest }
}
