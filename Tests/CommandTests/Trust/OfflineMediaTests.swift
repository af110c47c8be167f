import Foundation
import StrictJSON
import Testing

/// Offline media: all metadata are valid until a given day.
struct OfflineMediaTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        try folder.write("level/file", "version 1")
        try await workshop.publish("--pack", "level=\(folder["level"])")
    }

    private func day(_ days: Double) -> String {
        Date(timeIntervalSinceNow: days * 86_400).formatted(.iso8601.year().month().day())
    }

    private func isFetched(after days: Int) async throws -> CommandResult {
        try await workshop.fetch(into: folder["store-\(days)"], through: ["faketime", "+\(days) days"])
    }

    /// With offline keys the media are not ready before all is signed, which is reported.
    @Test func withOfflineKeys() async throws {
        let keys = [try workshop.takeAway("root.pem"), try workshop.takeAway("targets.pem")]
        let command = ["publish", workshop.vault, "--offline-until", day(500)]
        for _ in 0..<3 {
            let result = try await Command.run(command)
            guard result.exitCode == 77 else { break }
            for name in try workshop.pending() {
                let key = keys[name.contains("root") ? 0 : 1]
                try await Command.run("trust", "sign", folder["vault/pending/\(name)"], "--key", key)
                    .succeeded()
            }
        }
        try await Command.run(command).succeeded()
        #expect(try workshop.pending() == [])
        for role in try await workshop.roles().values {
            #expect(role.expires == "\(day(500))T23:59:59Z", "\(role.role)")
        }
    }

    @Test(arguments: [nil, 4] as [Int64?]) func allRolesLast(bins: Int64?) async throws {
        if let bins { try workshop.settings { $0["bins"] = .integer(bins) } }
        try await workshop.publish("--offline-until", day(500))
        for role in try await workshop.roles().values {
            #expect(role.expires == "\(day(500))T23:59:59Z", "\(role.role)")
        }
        if bins == nil {
            try await isFetched(after: 499).succeeded()
            try await isFetched(after: 502).failed(76, naming: "expired")
        }
        // A later publication without the option does not shorten the validity.
        let before = try Tree(workshop.site)
        try await workshop.publish()
        #expect(try Tree(workshop.site) == before)
    }

    /// A role that lasts longer keeps its expiry.
    @Test func aDateBeforeTheNormalExpiry() async throws {
        try await workshop.publish("--offline-until", day(60))
        let roles = try await workshop.roles()
        #expect(roles["root"]?.version == 1 && roles["targets"]?.version == 1)
        #expect(roles["snapshot"]?.version == 2 && roles["timestamp"]?.version == 2)
        try await isFetched(after: 59).succeeded()
        try await isFetched(after: 62).failed(76, naming: "expired")
    }

    @Test(arguments: ["2020-01-01", "tomorrow", "2030-13-01", "2030-02-30", "", "2030-1-1", "99999-01-01"])
    func invalidDates(text: String) async throws {
        let before = try Tree(workshop.vault)
        try await Command.run("publish", workshop.vault, "--offline-until", text).failed(
            64, naming: "--offline-until", "YYYY-MM-DD")
        #expect(try Tree(workshop.vault) == before)
    }

    /// The current day is valid until it is over.
    @Test func today() async throws {
        try await workshop.publish("--offline-until", day(0))
        try await Command.run("publish", workshop.vault, "--offline-until", day(-1)).failed(64)
    }
}
