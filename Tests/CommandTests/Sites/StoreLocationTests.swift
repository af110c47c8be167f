import Foundation
import Sampling
import SystemPackage
import Testing
import VaultFileSystem

/// Storage areas in other places, on other file systems, on full and read-only ones.
struct StoreLocationTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    /// Every area may be elsewhere; `tmpfs` is another file system, so renames fail.
    @Test(arguments: [
        ["ephemeral"], ["shared"], ["permanent"], ["ephemeral", "permanent"],
        ["ephemeral", "shared", "permanent"],
    ])
    func areasOnOtherFileSystems(areas: [String]) async throws {
        let other = try TemporaryFolder(in: "/dev/shm")
        #expect(try !FileSystem.sameFileSystem(other.path, folder.path))
        let places = areas.flatMap { ["--\($0)", other[$0]] }
        let store = ["--store", testSite.store] + places
        try await Command.run(
            ["fetch", testSite.site, "--trust", testSite.root] + store
        ).succeeded()
        try await Command.run(["fetch", testSite.site] + testSite.keys + store).succeeded()
        let path = try await Command.run(["path", "level"] + store).succeeded().text
        let permanent = areas.contains("permanent") ? other["permanent"] : "\(testSite.store)/permanent"
        #expect(path == "\(permanent)/level/current\n")
        #expect(try Tree("\(permanent)/level/current") == Tree(folder["level"]))
        // The same as a sealed pack, which is moved from area to area.
        try await Command.run(["fetch", testSite.site, "--sealed"] + testSite.keys + store).succeeded()
        let status = try await Command.run(["status"] + store).succeeded()
        #expect(status.text == "loaded  level  version 1 sealed\n")
        // Nothing is in unexpected places.
        for area in ["ephemeral", "shared", "permanent"] {
            #expect(try folder.exists("store/\(area)") != areas.contains(area), "\(area)")
            #expect(try other.exists(area) == areas.contains(area), "\(area)")
        }
    }

    /// On a disk that fills up, a fetch of version 2 fails and version 1 stays in use.
    private func runsOut(
        of disk: String, at area: String, _ fetch: String = "fetch",
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        try folder.makeFolder("disk")
        let options = "--store '\(testSite.store)' --\(area) '\(folder["disk/area"])'"
        let keys = testSite.keys.joined(separator: " ")
        let command = try Command.path.string
        // Version 1 goes to the small disk first, and is looked at last, while the disk is there.
        let wrapper = Sandbox.mounting(
            """
            { mount -t tmpfs -o \(disk) none '\(folder["disk"])' &&
            '\(command)' fetch '\(folder["site-1"])' --trust '\(testSite.root)' \(options) \(keys); }
            """,
            after: """
                { ls -A "$('\(command)' path level \(options))/" && cat "$('\(command)' path level \(options))/file" &&
                '\(command)' status \(options) && find '\(folder["disk"])' -name '.assetvault-*'; }
                """)
        try await Tool.run("cp", "-a", testSite.site, folder["site-1"])
        try folder.write("level/file", "version 2")
        for number in 0..<200 {
            try folder.write("level/\(number)", Bytes.random(50_000, seed: UInt64(number)))
        }
        try await testSite.publish()
        let result = try await Command.run(
            ["fetch", testSite.site, "--store", testSite.store, "--\(area)", folder["disk/area"]]
                + testSite.keys,
            through: wrapper)
        #expect(result.exitCode == 71, "\(result.errorText)", sourceLocation: location)
        #expect(
            result.errorText.contains("full; free some space") || result.errorText.contains("disk is full"),
            "\(result.errorText)", sourceLocation: location)
        #expect(
            result.text.hasPrefix("file\nversion 1failed  level  version 1 opened"), "\(result.text)",
            sourceLocation: location)
        #expect(!result.text.contains(".assetvault-"), "\(result.text)", sourceLocation: location)
    }

    /// Free space is checked first.
    @Test(arguments: ["permanent", "ephemeral"]) func aSmallDisk(area: String) async throws {
        try await runsOut(of: "size=20m", at: area)
    }

    /// Space may be used up later: here inodes run out, not bytes.
    @Test func aDiskThatFillsUpDuringTheFetch() async throws {
        try await runsOut(of: "size=100m,nr_inodes=60", at: "permanent")
    }

    @Test(arguments: ["pwrite64", "fsync"]) func aDiskThatFails(call: String) async throws {
        try await testSite.fetch().succeeded()
        let first = try await testSite.tree(of: "level")
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        let second = try Tree(folder["level"])
        var refusals = 0
        for number in [1] + Sampling.numbers(2...40, each: 4, for: "StoreLocationTests \(call)") {
            let store = folder["store-\(number)"]
            try await Tool.run("cp", "-a", testSite.store, store)
            let log = folder["calls-\(number)"]
            let result = try await testSite.fetch(
                into: store,
                through: Sandbox.injecting("error=EIO", into: call, number: number, log: log))
            let tree = try await testSite.tree(of: "level", in: store)
            guard result.exitCode != 0 else {
                #expect(tree == second, "\(call) \(number)")
                // Some faults stop nothing, such as those of what can be removed later.
                let calls = String(decoding: try folder.bytes("calls-\(number)"), as: UTF8.self)
                guard calls.contains("(INJECTED)") else { break }
                continue
            }
            refusals += 1
            #expect(result.exitCode == 74, "\(call) \(number): \(result.errorText)")
            #expect(tree == first || tree == second, "\(call) \(number)")
            try await testSite.fetch(into: store).succeeded()
            #expect(try await testSite.tree(of: "level", in: store) == second, "\(call) \(number)")
        }
        #expect(refusals > 0)
    }

    @Test func aReadOnlyStore() async throws {
        try await testSite.fetch().succeeded()
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        let before = try Tree(testSite.store)
        let result = try await testSite.fetch(through: Sandbox.readOnly(testSite.store))
        #expect([73, 74].contains(result.exitCode), "\(result.exitCode) \(result.errorText)")
        #expect(try Tree(testSite.store) == before)
        try folder.write("file", "mine")
        try await testSite.fetch(into: folder["file"]).failed(73, naming: folder["file"])
    }
}
