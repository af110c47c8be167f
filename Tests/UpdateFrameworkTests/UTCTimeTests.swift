import Foundation
import Testing
import UpdateFramework

@Suite struct UTCTimeTests {
    @Test func parsesAndFormatsKnownTimes() {
        #expect(UTCTime("1970-01-01T00:00:00Z")?.secondsSince1970 == 0)
        #expect(UTCTime("1985-10-21T01:21:00Z")?.secondsSince1970 == 498_705_660)
        #expect(UTCTime("2000-02-29T23:59:59Z")?.secondsSince1970 == 951_868_799)
        #expect(UTCTime("0001-01-01T00:00:00Z") == UTCTime.earliest)
        #expect(UTCTime("9999-12-31T23:59:59Z") == UTCTime.latest)
    }

    @Test func daysOfFourCenturiesAgreeWithFoundation() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: Int64(-25_567), to: 120_530, by: 5) {
            let seconds = day * 86_400 + (day & 0xFFFF)
            let time = try #require(UTCTime(secondsSince1970: seconds))
            #expect(UTCTime(time.description) == time)
            guard day % 7 == 0 else { continue }
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(time.description == date.formatted(.iso8601))
        }
    }

    @Test(arguments: [
        "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00z", "1970-01-01 00:00:00Z",
        "1970-01-01T00:00:00.0Z",
        "1970-1-01T00:00:00Z", "1970-13-01T00:00:00Z", "1970-00-01T00:00:00Z", "1970-01-00T00:00:00Z",
        "1970-01-32T00:00:00Z",
        "1970-04-31T00:00:00Z", "1970-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z", "1970-01-01T00:00:60Z", "0000-01-01T00:00:00Z", "+970-01-01T00:00:00Z",
        "-001-01-01T00:00:00Z", "1970-01-01T00:00:00ZZ", " 1970-01-01T00:00:00Z", "١٩٧٠-01-01T00:00:00Z",
        "1970-01-01T00:00: 0Z", "1970:01:01T00:00:00Z",
    ])
    func otherFormatsAreRefused(_ text: String) {
        #expect(UTCTime(text) == nil)
    }

    @Test func additionStaysInRange() {
        #expect(UTCTime("2025-12-31T12:00:00Z")?.adding(days: 60).description == "2026-03-01T12:00:00Z")
        #expect(UTCTime("2025-12-31T12:00:00Z")?.adding(days: .max) == .latest)
        #expect(UTCTime("2025-12-31T12:00:00Z")?.adding(days: .min) == .earliest)
        #expect(UTCTime(secondsSince1970: .max) == nil)
        #expect(UTCTime(secondsSince1970: .min) == nil)
    }
}
