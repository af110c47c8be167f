import Foundation
import SystemPackage
import Testing
import VaultBase

/// Of packs that are equally dispensable, those that a running program has requested go last.
@Suite(.timeLimit(.minutes(5))) struct RunningRequesterTests {
    let world: World

    init() async throws {
        world = try await .withTags()
        try await world.fetch().succeeded()
        try await world.run("preserve --tag level2 --tag level3 --priority 0.5 $STORE").succeeded()
    }

    /// What would go, and whether a running program has requested it.
    private func wouldGo() async throws -> [String: Bool] {
        let answer = try await world.run("purge --dry-run --json $STORE").succeeded().json()
        let packs = try #require(answer["packs"]?.elements)
        return Dictionary(
            uniqueKeysWithValues: packs.map {
                (String(($0["id"]?.text ?? "").dropFirst("game/".count)), $0["requestedByRunning"] == true)
            })
    }

    @Test func packsOfRunningProgramsGoLast() async throws {
        let running = try PeerWithoutAccess(to: ["level2"], of: world)
        try await world.access("level3", script: "true").succeeded()
        // What the ended program had in access counts as used when its end is noticed.
        _ = try await wouldGo()
        let links = ["level2", "level3", "level2.level3"].map {
            "\(world.store)/permanent/game/\($0)/current"
        }
        try await Tool.run(["touch", "-h", "-d", "@1000"] + links).succeeded()
        // The texture belongs to both programs: one of them runs.
        #expect(try await wouldGo() == ["level3": false, "level2": true, "level2.level3": true])
        #expect(try await world.purge("--dry-run") == ["level3", "level2", "level2.level3"])
        let text = try await world.run("purge --dry-run $STORE").succeeded().text
        let notes = text.split(separator: "\n").map { $0.hasSuffix(", a running program requested it") }
        #expect(notes == [false, true, true], "\(text)")
        // When it has ended, however that was, nothing but the names decides.
        running.kill()
        #expect(try await wouldGo().values.allSatisfy { !$0 })
        #expect(try await world.purge("--dry-run") == ["level2", "level2.level3", "level3"])
    }

    /// The last use counts more, and the priority of the tags most.
    @Test func otherReasonsCountMore() async throws {
        let running = try PeerWithoutAccess(to: ["level2"], of: world)
        try await world.access("level3", script: "true").succeeded()
        _ = try await wouldGo()
        for (time, pack) in ["level2", "level2.level3", "level3"].enumerated() {
            let link = "\(world.store)/permanent/game/\(pack)/current"
            try await Tool.run(["touch", "-h", "-d", "@\(1000 + time)", link]).succeeded()
        }
        #expect(try await world.purge("--dry-run") == ["level2", "level2.level3", "level3"])
        try await world.run("preserve --tag level2 --priority 0.6 $STORE").succeeded()
        #expect(try await world.purge() == ["level3", "level2", "level2.level3"])
        running.kill()
    }
}

/// A process of `request-peer` whose access to some tags has ended, and that still runs.
private final class PeerWithoutAccess {
    private let process = Process()
    private let input = Pipe()

    init(to tags: [String], of world: World) throws {
        process.executableURL = URL(filePath: try Self.executable())
        process.arguments = [
            world.site, world.store, world.root, world["vault/keys/vault.jwks"], "1000000000",
        ]
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        for (number, command) in ["begin r \(tags.joined(separator: " "))", "end r"].enumerated() {
            try input.fileHandleForWriting.write(contentsOf: Data("\(number) \(command)\n".utf8))
            let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            try #require(answer == "\(number) ok\n")
        }
    }

    deinit { kill() }

    /// Returns when nothing is left of it.
    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// `REQUEST_PEER`, else beside the command.
    private static func executable() throws -> String {
        if let named = ProcessInfo.processInfo.environment["REQUEST_PEER"] { return named }
        return try Command.debugPath.removingLastComponent().appending("request-peer").string
    }
}
