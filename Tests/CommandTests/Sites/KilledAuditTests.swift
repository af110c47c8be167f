import FaultServer
import Foundation
import SystemPackage
import Testing
import VaultBase

/// An audit with a memory may be killed at any moment: what it wrote down can be read, and the next one goes on.
struct KilledAuditTests {
    let world: World

    init() async throws {
        world = try await World("a", "b", "c") { world in
            // The audit of a host asks for the largest pack, too.
            for (name, count) in [("a", 100_000), ("b", 1000), ("c", 1000)] {
                try world.write("\(name)/file", Bytes.random(count, seed: 1))
            }
        }
    }

    private func audit(_ options: Words = "", through wrapper: [String] = []) async throws -> CommandResult {
        try await world.run("audit $SITE $TRUST --state $WORK/state.json --json \(options)", through: wrapper)
    }

    @Test(arguments: ["renameat", "fsync", "pwrite64"]) func atEveryStep(call: String) async throws {
        let kills = try await Killing.atEach(call, 1...20) { number, wrapper in
            let before = try verifiedPacks
            let result = try await audit(through: wrapper)
            #expect(try verifiedPacks >= before, "\(call) \(number)")
            try await audit("--sample 1%").succeeded()
            #expect(try Tree(world.path.string).scratch == [], "\(call) \(number)")
            return result
        }
        #expect(kills > 0)
    }

    @Test func resumes() async throws {
        let (host, gate) = try world.gatedHost(for: ".b.avpack")
        try await world.whileRunning("audit \(host.url) $TRUST --state $WORK/state.json") { command in
            try await gate.whileBlocked { command.send(SIGKILL) }
        }
        // The first pack is written down at once, before the second one is asked for.
        #expect(try verifiedPacks == 1)
        for pack in ["b", "c", "a"] {
            let next = try await audit("--budget 1B").succeeded().json()
            #expect(next["packs"]?.elements?.map { $0["id"]?.text } == [pack])
        }
    }

    /// How many packs the state knows as verified; 0 where there is none.
    private var verifiedPacks: Int {
        get throws {
            guard try world.exists("state.json") else { return 0 }
            let state: JSONValue = try world.json("state.json")
            return try #require(state["packs"]?.elements).filter { $0["verified"] != nil }.count
        }
    }
}
