import Foundation
import StrictJSON
import Testing

/// A host without keys that serves one signed file in place of another.
struct HostileHostTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        try folder.write("level/file", "version 1")
        try await workshop.publish("--pack", "level=\(folder["level"])")
        try workshop.settings { $0["bins"] = 2 }
        try await workshop.publish()
    }

    /// All bins are signed by one key, and have one version: the snapshot tells them apart.
    @Test func aSwappedBin() async throws {
        let (first, second) = (
            try folder.bytes("vault/site/metadata/1.packs-0.json"),
            try folder.bytes("vault/site/metadata/1.packs-1.json")
        )
        try folder.write("vault/site/metadata/1.packs-0.json", second)
        try folder.write("vault/site/metadata/1.packs-1.json", first)
        for argument in ["--all", "level"] {
            try await workshop.fetch(nil, argument, into: folder["player"]).failed(76, naming: "packs-")
        }
        let audit = try await Command.run("audit", workshop.site)
        #expect(audit.exitCode != 0)
    }

    /// An older list of the whole site is refused in place of a bin of that version.
    @Test func anOldListInPlaceOfABin() async throws {
        try await workshop.fetch().succeeded()
        let first = try Tree(folder["level"])
        try folder.write("level/file", "version 2")
        try await workshop.publish()
        let bin = try #require(try workshop.metadata().first { $0.hasPrefix("2.packs-") })
        let honest = try folder.bytes("vault/site/metadata/\(bin)")
        try folder.write(
            "vault/site/metadata/\(bin)", folder.bytes("vault/site/metadata/2.targets.json"))
        try await workshop.fetch().failed(76, naming: "packs-")
        #expect(try await workshop.tree(of: "level") == first)
        try folder.write("vault/site/metadata/\(bin)", honest)
        try await workshop.fetch().succeeded()
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
    }
}
