import Foundation
import Sampling
import Testing

/// An app that is killed while it copies verified metadata of a downloader: its metadata are the old or the new ones.
struct KilledAdoptionTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop(publishing: ["one", "zero"])
        folder = workshop.folder
        // Only the metadata list the new version.
        try await workshop.fetch(nil, "one").succeeded()
        try folder.write("one/file", "version 2")
        try folder.write("two/file", "two")
        try await workshop.publish("--pack", "two=\(folder["two"])")
        for role in ["timestamp", "targets"] { try await workshop.trust("rotate", role).succeeded() }
        try await workshop.publish()
        try await Command.run(
            "downloader", workshop.site, "--store", workshop.store, "--trust", workshop.root, "--request",
            "install"
        ).succeeded()
    }

    /// Killed at each call that renames or removes a file.
    @Test(arguments: ["renameat", "renameat2", "unlinkat"]) func atEachRename(call: String) async throws {
        for number in Sampling.numbers(1...100, each: 3, for: "KilledAdoptionTests \(call)") {
            let store = folder["store-\(call)-\(number)"]
            try await Tool.run("cp", "-a", workshop.store, store)
            let unlock = ["unlock", "one", "--store", store] + workshop.keys
            let end = try await Command.run(unlock, through: Killing.at(call, number: number))
            // The downloader's metadata are gone.
            try await Tool.run("rm", "-rf", "\(store)/shared/@trust", "\(store)/shared/@state")
            let listed = try await workshop.status(of: store).keys.sorted()
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
