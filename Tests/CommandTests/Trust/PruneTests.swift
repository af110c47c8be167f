import Foundation
import Sampling
import StrictJSON
import Testing

/// Which files pruning removes, and which it keeps.
struct PruneTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let packs: [String]

    /// Versions 1 to 4 were published today, version 5 in forty days, when the snapshots of today have expired.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        var packs: [String] = []
        for version in 1...5 {
            try folder.write("level/file", "version \(version)")
            try await testSite.publish(
                "--pack", "level=\(folder["level"])", through: version == 5 ? Clock.shifted(byDays: 40) : [])
            packs.append(try testSite.publishedPack("level"))
        }
        self.packs = packs
        for name in [
            packs[4], "metadata/5.targets.json", "metadata/5.snapshot.json", "metadata/timestamp.json",
        ] {
            try await Tool.run("touch", "-d", "+40 days", "\(testSite.site)/\(name)")
        }
    }

    /// Prunes with the clock set forward by this many days; file times are unchanged.
    @discardableResult
    private func prune(
        after days: Int, _ arguments: String..., through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await Command.run(
            ["prune", testSite.vault] + arguments,
            through: Clock.shifted(byDays: days) + wrapper)
    }

    private func removed(_ result: CommandResult) throws -> Set<String> {
        let list = try #require(try result.succeeded().json()["removed"]?.elements)
        return Set(list.compactMap { $0["path"]?.text?.replacing("\(testSite.site)/", with: "") })
    }

    /// An operator has the site's folder, and the root that clients pin.
    @Test func aSiteWithoutItsVault() async throws {
        let wanted = try removed(
            try await prune(after: 41, "--keep", "2", "--grace", "0d", "--dry-run", "--json"))
        try await Tool.run("cp", "-a", testSite.site, folder["host"])
        let prune = ["prune", folder["host"], "--keep", "2", "--grace", "0d", "--json"]
        let clock = try Clock.shifted(byDays: 41)
        try await Command.run(prune, through: clock).failed(64, naming: "--trust")
        try await Command.run("init", folder["foreign"]).succeeded()
        try await Command.run(prune + ["--trust", folder["foreign/trusted-root.json"]], through: clock)
            .failed(76)
        #expect(try Tree(folder["host"]) == Tree(testSite.site))
        let list = try await Command.run(prune + ["--trust", testSite.root], through: clock).succeeded()
            .json()["removed"]?.elements
        let gone = Set(
            (list ?? []).compactMap { $0["path"]?.text?.replacing("\(folder["host"])/", with: "") })
        #expect(gone == wanted && gone.count > 6, "\(gone)")
        try await Command.run("audit", folder["host"], "--trust", testSite.root, through: clock).succeeded()
    }

    /// Keys that only earlier roots than the given one name have signed what may be restored.
    @Test func aSiteByItsNewestRoot() async throws {
        for role in ["targets", "timestamp"] {
            try await testSite.trust("rotate", role, through: Clock.shifted(byDays: 41)).succeeded()
        }
        try await testSite.publish(through: Clock.shifted(byDays: 41))
        let options = ["--keep", "3", "--grace", "0d", "--dry-run", "--json"]
        let clock = try Clock.shifted(byDays: 90)
        let wanted = try removed(try await Command.run(["prune", testSite.vault] + options, through: clock))
        let root = folder["vault/site/metadata/3.root.json"]
        let found = try removed(
            try await Command.run(["prune", testSite.site, "--trust", root] + options, through: clock))
        #expect(found == wanted && !wanted.isEmpty, "\(found.symmetricDifference(wanted))")
    }

    /// Only metadata of versions that are no longer kept are removed, and their packs.
    @Test func removesOldMetadataAndTheirPacks() async throws {
        let all = try Tree(testSite.site).files
        let dry = try removed(
            try await prune(after: 41, "--keep", "2", "--grace", "0d", "--dry-run", "--json"))
        #expect(try Tree(testSite.site).files == all, "a dry run removes nothing")
        let gone = try removed(try await prune(after: 41, "--keep", "2", "--grace", "0d", "--json"))
        #expect(gone == dry)
        let snapshots = Set((1...4).map { "metadata/\($0).snapshot.json" })
        let targets = Set((1...3).map { "metadata/\($0).targets.json" })
        #expect(gone == snapshots.union(targets).union(packs[..<3]))
        #expect(try Set(Tree(testSite.site).files) == Set(all).subtracting(gone))
        try await Command.run(
            "audit", testSite.site, "--trust", testSite.root, through: Clock.shifted(byDays: 41)
        ).succeeded()
        try await testSite.fetch(through: Clock.shifted(byDays: 41)).succeeded()
        try await Command.run(
            "restore", testSite.vault, "level", "--version", "4", through: Clock.shifted(byDays: 41)
        ).succeeded()
        try await Command.run("restore", testSite.vault, "level", "--version", "2").failed(
            66, naming: "5, 4")
    }

    /// The last versions are kept also after a change to bins, whose versions begin again.
    @Test func acrossAMoveToBins() async throws {
        try testSite.settings { $0["bins"] = 2 }
        try folder.write("level/file", "version 6")
        try await testSite.publish(through: Clock.shifted(byDays: 40))
        try await testSite.publish(through: Clock.shifted(byDays: 80))
        try await prune(after: 120, "--keep", "3", "--grace", "0d").succeeded()
        for (index, pack) in packs.enumerated() {
            #expect(try folder.exists("vault/site/\(pack)") == (index >= 3), "version \(index + 1)")
        }
        try await Command.run(
            "restore", testSite.vault, "level", "--version", "4", through: Clock.shifted(byDays: 81)
        ).succeeded()
    }

    /// Packs of an unexpired snapshot are kept, however old: a client may use it.
    @Test func unexpiredSnapshots() async throws {
        let before = try Tree(testSite.site)
        let result = try await prune(after: 20, "--keep", "1", "--grace", "0d")
        #expect(try result.succeeded().text.isEmpty && Tree(testSite.site) == before)
    }

    @Test(arguments: [(1, 4), (2, 3), (3, 2), (5, 0), (9, 0)]) func keepN(count: Int, gone: Int) async throws
    {
        try await prune(after: 41, "--keep", "\(count)", "--grace", "0").succeeded()
        let left = try Tree(testSite.site).files.filter { $0.hasSuffix(".avpack") }
        #expect(Set(left) == Set(packs[gone...]))
    }

    /// The grace time begins at the replacement: version 4 was replaced a day ago; the others forty days before.
    @Test func graceTime() async throws {
        try await prune(after: 41, "--keep", "1", "--grace", "30d").succeeded()
        let left = Set(try Tree(testSite.site).files)
        #expect(
            left.isSuperset(of: [packs[3], packs[4], "metadata/4.targets.json", "metadata/4.snapshot.json"]))
        #expect(left.isDisjoint(with: packs[..<3]))
        try await prune(after: 80, "--keep", "1", "--grace", "30d").succeeded()
        #expect(try Tree(testSite.site).files.filter { $0.hasSuffix(".avpack") } == [packs[4]])
    }

    /// Roots are always kept: a client of the first follows them one by one.
    @Test func rootsAlwaysStay() async throws {
        for role in ["root", "timestamp", "targets"] {
            try await testSite.trust("rotate", role, through: Clock.shifted(byDays: 41)).succeeded()
        }
        try await prune(after: 2000, "--keep", "1", "--grace", "0d").succeeded()
        let roots = try testSite.metadata().filter { $0.hasSuffix(".root.json") }
        #expect(roots == ["1.root.json", "2.root.json", "3.root.json", "4.root.json"])
        try await testSite.publish(through: Clock.shifted(byDays: 42))
        try await testSite.fetch(through: Clock.shifted(byDays: 42)).succeeded()
    }

    /// An outdated host serves the former state, whose files are all there.
    @Test func anOutdatedHostStaysComplete() async throws {
        let then = try Clock.shifted(byDays: 41)
        let timestamp = try folder.bytes("vault/site/metadata/timestamp.json")
        try folder.write("level/file", "version 6")
        try await testSite.publish(through: then)
        try await prune(after: 45, "--keep", "1", "--grace", "0d").succeeded()
        try await Tool.run("cp", "-a", testSite.site, folder["behind"])
        try folder.write("behind/metadata/timestamp.json", timestamp)
        try await testSite.fetch(folder["behind"], through: then).succeeded()
        let path = try await testSite.path(of: "level")
        #expect(try String(contentsOfFile: "\(path)/file", encoding: .utf8) == "version 5")
        try await testSite.fetch(through: then).succeeded()
    }

    /// A sealed pack that awaits a signature is in use, too.
    @Test func aPackAwaitingASignatureIsKept() async throws {
        let key = try testSite.takeAway("targets.pem")
        try folder.write("level/file", "version 6")
        try await Command.run("publish", testSite.vault, through: Clock.shifted(byDays: 41)).failed(77)
        try await prune(after: 80, "--keep", "1", "--grace", "0d").succeeded()
        let name = try #require(try testSite.pending().first)
        try await Command.run("trust", "sign", folder["vault/pending/\(name)"], "--key", key).succeeded()
        try await testSite.publish(through: Clock.shifted(byDays: 41))
        try await testSite.fetch(through: Clock.shifted(byDays: 41)).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// After a kill the site is complete, and the next run removes the rest.
    @Test func killedAtEachStep() async throws {
        let then = try Clock.shifted(byDays: 41)
        try await Tool.run("cp", "-a", testSite.vault, folder["whole"])
        try await prune(after: 41, "--keep", "1", "--grace", "0d").succeeded()
        let rest = try Tree(testSite.site)
        var killed = 0
        let numbers = Sampling.numbers(1...30, each: 3, for: "PruneTests.killedHalfWay")
        for number in numbers {
            try await Tool.run("rm", "-rf", testSite.vault)
            try await Tool.run("cp", "-a", folder["whole"], testSite.vault)
            let kill = Killing.at("unlinkat", number: number)
            let result = try await Command.run(
                ["prune", testSite.vault, "--keep", "1", "--grace", "0d"],
                through: kill + Clock.shifted(byDays: 41))
            try await Command.run("audit", testSite.site, through: then).succeeded()
            try await testSite.fetch(into: folder["store-\(number)"], through: then).succeeded()
            // Each earlier version is complete or gone.
            for (version, pack) in packs.enumerated()
            where try folder.exists("vault/site/metadata/\(version + 1).targets.json") {
                #expect(try folder.exists("vault/site/\(pack)"), "version \(version + 1)")
            }
            if result.exitCode == 0 { break }
            killed += 1
            try await prune(after: 41, "--keep", "1", "--grace", "0d").succeeded()
            #expect(try Tree(testSite.site) == rest)
        }
        #expect(killed == numbers.count { $0 <= 12 }, "\(killed)")
    }

    @Test(arguments: [
        ["--keep", "0"], ["--keep", "-1"], ["--grace", "soon"], ["--grace", "-1d"], ["--grace", "d"],
    ])
    func invalidOptions(arguments: [String]) async throws {
        let before = try Tree(testSite.vault)
        let result = try await Command.run(["prune", testSite.vault] + arguments)
        #expect(result.exitCode == 64 && result.output.isEmpty, "\(result.errorText)")
        #expect(try Tree(testSite.vault) == before)
    }
}
