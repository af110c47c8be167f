import Foundation
import StrictJSON
import Testing

/// Offline media: all metadata are valid until a given day.
struct OfflineMediaTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func day(_ days: Double) -> String {
        Date(timeIntervalSinceNow: days * 86_400).formatted(.iso8601.year().month().day())
    }

    private func isFetched(after days: Int) async throws -> CommandResult {
        try await testSite.fetch(into: folder["store-\(days)"], through: Clock.shifted(byDays: days))
    }

    /// With offline keys the media are not ready before all is signed, which is reported.
    @Test func withOfflineKeys() async throws {
        let keys = [try testSite.takeAway("root.pem"), try testSite.takeAway("targets.pem")]
        let command = ["publish", testSite.vault, "--offline-until", day(500)]
        for _ in 0..<3 {
            let result = try await Command.run(command)
            guard result.exitCode == 77 else { break }
            for name in try testSite.pending() {
                let key = keys[name.contains("root") ? 0 : 1]
                try await Command.run("trust", "sign", folder["vault/pending/\(name)"], "--key", key)
                    .succeeded()
            }
        }
        try await Command.run(command).succeeded()
        #expect(try testSite.pending() == [])
        for role in try await testSite.roles().values {
            #expect(role.expires == "\(day(500))T23:59:59Z", "\(role.role)")
        }
    }

    @Test(arguments: [nil, 4] as [Int64?]) func allRolesLast(bins: Int64?) async throws {
        if let bins { try testSite.settings { $0["bins"] = .integer(bins) } }
        try await testSite.publish("--offline-until", day(500))
        for role in try await testSite.roles().values {
            #expect(role.expires == "\(day(500))T23:59:59Z", "\(role.role)")
        }
        if bins == nil {
            try await isFetched(after: 499).succeeded()
            try await isFetched(after: 502).failed(76, naming: "expired")
        }
        // A later publication without the option does not shorten the validity.
        let before = try Tree(testSite.site)
        try await testSite.publish()
        #expect(try Tree(testSite.site) == before)
    }

    /// A role that lasts longer keeps its expiry.
    @Test func aDateBeforeTheNormalExpiry() async throws {
        try await testSite.publish("--offline-until", day(60))
        let roles = try await testSite.roles()
        #expect(roles["root"]?.version == 1 && roles["targets"]?.version == 1)
        #expect(roles["snapshot"]?.version == 2 && roles["timestamp"]?.version == 2)
        try await isFetched(after: 59).succeeded()
        try await isFetched(after: 62).failed(76, naming: "expired")
    }

    @Test(arguments: ["2020-01-01", "tomorrow", "2030-13-01", "2030-02-30", "", "2030-1-1", "99999-01-01"])
    func invalidDates(text: String) async throws {
        let before = try Tree(testSite.vault)
        try await Command.run("publish", testSite.vault, "--offline-until", text).failed(
            64, naming: "--offline-until", "YYYY-MM-DD")
        #expect(try Tree(testSite.vault) == before)
    }

    /// The current day is valid until it is over.
    @Test func today() async throws {
        try await testSite.publish("--offline-until", day(0))
        try await Command.run("publish", testSite.vault, "--offline-until", day(-1)).failed(64)
    }
}
