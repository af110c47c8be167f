import Foundation
import Sampling
import Testing

/// An app that is killed while it copies verified metadata of a downloader: its metadata are the old or the new ones.
struct KilledAdoptionTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite(publishing: ["one", "zero"])
        folder = testSite.folder
        // Only the metadata list the new version.
        try await testSite.fetch(nil, "one").succeeded()
        try folder.write("one/file", "version 2")
        try folder.write("two/file", "two")
        try await testSite.publish("--pack", "two=\(folder["two"])")
        for role in ["timestamp", "targets"] { try await testSite.trust("rotate", role).succeeded() }
        try await testSite.publish()
        try await Command.run(
            "downloader", testSite.site, "--store", testSite.store, "--trust", testSite.root, "--request",
            "install"
        ).succeeded()
    }

    /// Killed at each call that renames or removes a file.
    @Test(arguments: ["renameat", "renameat2", "unlinkat"]) func atEachRename(call: String) async throws {
        for number in Sampling.numbers(1...100, each: 3, for: "KilledAdoptionTests \(call)") {
            let store = folder["store-\(call)-\(number)"]
            try await Tool.run("cp", "-a", testSite.store, store)
            let unlock = ["unlock", "one", "--store", store] + testSite.keys
            let end = try await Command.run(unlock, through: Killing.at(call, number: number))
            // The downloader's metadata are gone.
            try await Tool.run("rm", "-rf", "\(store)/shared/@trust", "\(store)/shared/@state")
            let listed = try await testSite.status(of: store).keys.sorted()
            let new = ["one", "two", "zero"]
            #expect(listed == ["one", "zero"] || listed == new, "\(number): \(listed)")
            guard end.exitCode != 137 else { continue }
            try end.succeeded()
            #expect(listed == new)
            #expect(try !folder.exists("store-\(call)-\(number)/permanent/@trust/adopting"))
            return
        }
        Issue.record("it never came to its end")
    }
}
