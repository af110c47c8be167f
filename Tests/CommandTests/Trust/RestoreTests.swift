import Foundation
import Testing

/// An earlier version of a pack becomes live again, unchanged.
struct RestoreTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let packs: [String]

    /// Versions 1 to 3 were published, and the client has version 3.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        var packs: [String] = []
        for version in 1...3 {
            try folder.write("level/file", "version \(version)")
            try await testSite.publish("--pack", "level=\(folder["level"])")
            packs.append(try testSite.publishedPack("level"))
        }
        self.packs = packs
        try await testSite.fetch().succeeded()
    }

    @discardableResult
    private func restore(_ arguments: String...) async throws -> CommandResult {
        try await Command.run(["restore", testSite.vault, "level"] + arguments).succeeded()
    }

    private func expectClientHas(
        _ version: Int64, _ text: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        for store in [testSite.store, folder["fresh-\(UUID().uuidString)"]] {
            try await testSite.fetch(into: store).succeeded(at: location)
            #expect(
                try await testSite.status(of: store)["level"]?.version == version, sourceLocation: location)
            let path = try await testSite.path(of: "level", in: store)
            #expect(
                try String(contentsOfFile: "\(path)/file", encoding: .utf8) == text, sourceLocation: location)
        }
    }

    @Test func restoresAndStaysRestored() async throws {
        let targets = try Tree("\(testSite.site)/targets")
        try await restore("--version", "1")
        #expect(try testSite.publishedPack("level") == packs[0])
        #expect(try Tree("\(testSite.site)/targets") == targets, "nothing is sealed")
        try await expectClientHas(1, "version 1")
        let readers = try await Readers(of: testSite)

        // It stays live when the source changes.
        try folder.write("level/file", "version 4")
        try folder.write("other/file", "other")
        try await testSite.publish("--pack", "other=\(folder["other"])")
        #expect(try testSite.publishedPack("level") == packs[0])
        try await expectClientHas(1, "version 1")

        try await restore("--latest")
        try await expectClientHas(4, "version 4")
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        try folder.write("level/file", "version 5")
        try await testSite.publish()
        try await expectClientHas(5, "version 5")
        let before = try Tree(testSite.site)
        try await testSite.publish()
        #expect(try Tree(testSite.site) == before)
    }
}
