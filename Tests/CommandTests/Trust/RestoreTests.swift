import Foundation
import Testing

/// An earlier version of a pack becomes live again, unchanged.
struct RestoreTests {
    let world: World
    private let packs: [String]

    /// Versions 1 to 3 were published, and the client has version 3.
    init() async throws {
        world = try await World()
        var packs: [String] = []
        for version in 1...3 {
            try world.write("level/file", "version \(version)")
            try await world.publish("--pack level=$WORK/level")
            packs.append(try world.publishedPack("level"))
        }
        self.packs = packs
        try await world.fetch().succeeded()
    }

    @discardableResult
    private func restore(_ arguments: String...) async throws -> CommandResult {
        try await world.run("restore $VAULT level \(arguments)").succeeded()
    }

    private func expectClientHas(
        _ version: Int64, _ text: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        for store in [world.store, world["fresh-\(UUID().uuidString)"]] {
            try await world.fetch(into: store).succeeded(at: location)
            #expect(
                try await world.status(of: store)["level"]?.version == version, sourceLocation: location)
            let path = try await world.path(of: "level", in: store)
            #expect(
                try String(contentsOfFile: "\(path)/file", encoding: .utf8) == text, sourceLocation: location)
        }
    }

    @Test func restoresAndStaysRestored() async throws {
        let targets = try Tree("\(world.site)/targets")
        try await restore("--version", "1")
        #expect(try world.publishedPack("level") == packs[0])
        #expect(try Tree("\(world.site)/targets") == targets, "nothing is sealed")
        try await expectClientHas(1, "version 1")
        let readers = try await Readers(of: world)

        // It stays live when the source changes.
        try world.write("level/file", "version 4")
        try world.write("other/file", "other")
        try await world.publish("--pack other=$WORK/other")
        #expect(try world.publishedPack("level") == packs[0])
        try await expectClientHas(1, "version 1")

        try await restore("--latest")
        try await expectClientHas(4, "version 4")
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        try await world.publish(level: "version 5")
        try await expectClientHas(5, "version 5")
        try await world.expectNothingToPublish()
    }
}
