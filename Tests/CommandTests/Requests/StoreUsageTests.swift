import Foundation
import Testing
import VaultBase

/// What a store takes on the disk, and which packs are purgeable.
@Suite(.timeLimit(.minutes(5))) struct StoreUsageTests {
    let world: World

    init() async throws {
        world = try await .withTags()
        try await world.fetch().succeeded()
        try await world.access("level2", "level3", script: "true").succeeded()
    }

    /// What `usage` says is compared with limits: the initial install, and what is in access.
    @Test func limitsAreExceeded() async throws {
        let limited: Words = "usage --limits odr-2015 $STORE"
        for (id, size) in [("level1", 2_000_000_000), ("level1", 2_000_000_001), ("level2", 3_000_000_000)]
            as [(String, Int64)]
        {
            // This record states a size that no test should make.
            let record = "store/permanent/@state/game/\(id)/@record.json"
            try world.editRecord(record) {
                try $0.change("loaded", "target", "custom", "assetvault") {
                    $0["openedSize"] = .integer(size)
                }
            }
            if size == 2_000_000_000 {
                try await world.run(limited).succeeded()
            } else if id == "level1" {
                let result = try await world.run(limited)
                #expect(
                    result.exitCode == 78 && result.text.contains("initial install: 2 GB opened"),
                    "\(result.text)")
                #expect(
                    result.errorText.contains(
                        "initial install: \(size) bytes, more than the limit of 2000000000"))
                try await world.run("usage --limits apple-2024 $STORE").succeeded()
            }
        }
        try await world.fetch("game/level1").succeeded()
        try await world.whileRunning("access level2 $STORE $KEYS -- sh -c \("echo begun; exec sleep 300")") {
            program in
            #expect(try await program.firstLine() == "begun")
            let result = try await world.run(limited)
            #expect(result.exitCode == 78, "\(result.errorText)")
            program.send(SIGKILL)
        }
    }

    /// What a program has in access stays until that ends, and 'remove' says so.
    @Test func removalOfWhatIsInAccess() async throws {
        try await world.whileRunning("access level2 $STORE $KEYS -- sh -c \("echo begun; exec sleep 300")") {
            program in
            #expect(try await program.firstLine() == "begun")
            let held = try await world.run("remove game/level2 $STORE").succeeded()
            #expect(
                held.errorText == "removing  game/level2: it is removed once its access has ended\n",
                "\(held.errorText)")
            program.send(SIGKILL)
        }
        let free = try await world.run("remove game/level3 $STORE").succeeded()
        #expect(free.errorText == "removed  game/level3\n", "\(free.errorText)")
    }
}
