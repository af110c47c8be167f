import FaultServer
import Testing
import VaultBase

/// What a runner without the site reads of all earlier publications. The host has pruned metadata between.
struct HostedHistoryTests {
    let world: World
    private let (first, second): ([String], [String])

    /// `other` is withdrawn, and the first key retired, in version 3 of the targets; version 4 is gone.
    init() async throws {
        world = try await World("level", "other")
        try await world.run("keygen -o $WORK/second.jwks").succeeded()
        (first, second) = (world.keys, ["--keys", "file:\(world["second.jwks"])"])
        try await world.publish("\(first) \(second)")
        try declareOther(false)
        try await world.publish("\(second)")
        for version in 2...3 {
            try world.write("level/file", "version \(version)")
            try await world.publish("\(second)")
        }
        try world.remove("vault/site/metadata/4.targets.json")
    }

    private func declareOther(_ isDeclared: Bool) throws {
        try world.settings {
            try $0.change("packs") { $0["other"] = isDeclared ? ["source": "../other"] : nil }
        }
    }

    /// Clients may have version 1: its number is never given to other bytes.
    @Test func aWithdrawnPackThatIsDeclaredAgain() async throws {
        try world.write("other/file", "declared again")
        try declareOther(true)
        let runner = try await Runner(of: world)
        let server = try FaultServer(runner.host)
        let result = try await runner.publish("\(second)", against: server.url).succeeded()
        #expect(result.text.contains("other  version 2"), "\(result.text)")
        let earlier = server.requests.filter { $0.contains("/2.targets") || $0.contains("/3.targets") }
        #expect(earlier.isEmpty, "\(earlier)")
    }

    /// A warning that can't be made certain stops nothing, and numbers are known without.
    @Test func moreThanCanBeRead() async throws {
        try await world.raise(["targets", "snapshot", "timestamp"], to: 20_000)
        let runner = try await Runner(of: world)
        let keys = try await runner.publish("\(first) \(second) --dry-run").succeeded()
        #expect(keys.errorText.contains("warning: keys open packs"), "\(keys.errorText)")
        try declareOther(true)
        try await Tool.run("cp", world["vault/vault.json"], "\(runner.vault)/vault.json")
        let result = try await runner.publish("\(first) \(second)").succeeded()
        #expect(result.text.contains("other  version 2"), "\(result.text)")
    }
}
