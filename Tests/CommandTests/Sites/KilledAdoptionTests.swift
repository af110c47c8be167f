import Sampling
import Testing

/// An app that is killed while it copies verified metadata of a downloader: its metadata are the old or the new ones.
struct KilledAdoptionTests {
    let world: World

    init() async throws {
        world = try await World("one", "zero")
        // Only the metadata list the new version.
        try await world.fetch("one").succeeded()
        try world.write("one/file", "version 2")
        try world.write("two/file", "two")
        try await world.publish("--pack two=$WORK/two")
        for role in ["timestamp", "targets"] { try await world.trust("rotate \(role)").succeeded() }
        try await world.publish()
        try await world.run("downloader $SITE $STORE $TRUST --request install").succeeded()
    }

    /// Killed at each call that renames or removes a file.
    @Test(arguments: ["renameat", "renameat2", "unlinkat"]) func atEachRename(call: String) async throws {
        let numbers = Sampling.numbers(1...100, each: 3, for: "KilledAdoptionTests \(call)")
        let kills = try await Killing.atEach(call, numbers, isAlwaysCalled: false) { number, wrapper in
            let store = world["store-\(call)-\(number)"]
            try await world.copy("store", to: store)
            let end = try await world.run("unlock one --store \(store) $KEYS", through: wrapper)
            // The downloader's metadata are gone.
            try await Tool.run("rm", "-rf", "\(store)/shared/@trust", "\(store)/shared/@state")
            let listed = try await world.status(of: store).keys.sorted()
            let new = ["one", "two", "zero"]
            #expect(listed == ["one", "zero"] || listed == new, "\(number): \(listed)")
            guard end.exitCode == 0 else { return end }
            #expect(listed == new)
            #expect(try !world.exists("store-\(call)-\(number)/permanent/@trust/adopting"))
            return end
        }
        #expect(kills < numbers.count, "it never came to its end")
    }
}
