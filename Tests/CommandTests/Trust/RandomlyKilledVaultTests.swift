import Sampling
import Testing

/// One vault whose commands are killed repeatedly, and readers that always trust it.
struct RandomlyKilledVaultTests {
    let world: World
    private let rounds = Sampling.rounds(10, whole: 100)

    init() async throws { world = try await World(level: "version 0") }

    @Test func readersFollowAfterEachKill() async throws {
        let readers = try await Readers(of: world)
        var trees = [try Tree(world["level"])]
        let whole = try await ContinuousClock().measure { try await world.trust("refresh").succeeded() }
        var (killed, refused) = (0, 0)
        var random = SeededGenerator(for: "RandomlyKilledVaultTests")
        var moments = RandomMoments(within: whole, for: "RandomlyKilledVaultTests.moments")
        for round in 1...rounds {
            let vault = world.vault
            let command: [String]
            switch Int.random(in: 0..<8, using: &random) {
            case 0: command = ["trust", "refresh", vault]
            case 1:
                let key = try await world.makeKey("key-\(round)").publicKey
                command = ["trust", "add-key", vault, "targets", key]
            case 2, 3, 4:
                let role = try #require(
                    ["root", "timestamp", "snapshot", "targets"].randomElement(using: &random))
                command = ["trust", "rotate", vault, role]
            default:
                try world.write("level/file", "version \(round)")
                trees.append(try Tree(world["level"]))
                command = ["publish", vault]
            }
            let moment = moments.next(0.2...3)
            let result = try await world.run("\(command)", through: Killing.after(moment))
            let hint = "round \(round): \(command.dropFirst().joined(separator: " ")), \(moment) s"
            moments.note(wasKilled: result.exitCode == 137)
            if result.exitCode == 137 { killed += 1 } else if result.exitCode != 0 { refused += 1 }
            #expect([0, 137].contains(result.exitCode), "\(result.errorText) \(hint)")
            let isFifth = round.isMultiple(of: 5)
            try await readers.expectBelief(seeing: trees, withPython: isFifth, hint)
            try await readers.follow(withPython: isFifth)
            guard isFifth else { continue }
            try await world.publish()
            try await readers.expectBelief(seeing: [Tree(world["level"])], withPython: false, hint)
        }
        print("\(rounds) rounds: \(killed) killed, \(refused) refused")
        #expect(killed > 0, "\(killed) of \(rounds)")
        try await world.publish()
        try await world.run("audit $SITE").succeeded()
        // A key that nothing names yet waits for the next rotation.
        let leftOver = try Tree(world.vault).entries.keys.filter {
            $0.contains(".assetvault-") || $0.hasPrefix("pending/")
        }
        #expect(leftOver == [])
        for role in ["root", "timestamp", "snapshot", "targets"] {
            try await world.trust("rotate \(role)").succeeded()
        }
        #expect(try world.names(in: "vault/keys").filter { $0.contains(".next.pem") } == [])
        try await readers.expectBelief(seeing: [Tree(world["level"])])
    }
}
