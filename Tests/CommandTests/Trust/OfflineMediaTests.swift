import Foundation
import StrictJSON
import Testing

/// Media that travel offline: their metadata lasts until a day, all of it.
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

    /// Where keys are kept elsewhere the media are not ready before all is signed, and that is said.
    @Test func withKeysElsewhere() async throws {
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
        // A publication without it is no reason to sign anything for a shorter time.
        let before = try Tree(workshop.site)
        try await workshop.publish()
        #expect(try Tree(workshop.site) == before)
    }

    /// Where a role lasts longer anyway it stays as it is.
    @Test func aDayThatIsNear() async throws {
        try await workshop.publish("--offline-until", day(60))
        let roles = try await workshop.roles()
        #expect(roles["root"]?.version == 1 && roles["targets"]?.version == 1)
        #expect(roles["snapshot"]?.version == 2 && roles["timestamp"]?.version == 2)
        try await isFetched(after: 59).succeeded()
        try await isFetched(after: 62).failed(76, naming: "expired")
    }

    @Test(arguments: ["2020-01-01", "tomorrow", "2030-13-01", "2030-02-30", "", "2030-1-1", "99999-01-01"])
    func daysThatAreNone(text: String) async throws {
        let before = try Tree(workshop.vault)
        try await Command.run("publish", workshop.vault, "--offline-until", text).failed(
            64, naming: "--offline-until", "YYYY-MM-DD")
        #expect(try Tree(workshop.vault) == before)
    }

    /// The day itself is still to come until it is over.
    @Test func today() async throws {
        try await workshop.publish("--offline-until", day(0))
        try await Command.run("publish", workshop.vault, "--offline-until", day(-1)).failed(64)
    }
}
