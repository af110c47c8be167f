import Foundation
import StrictJSON
import Testing

extension AppVersionTests {
    /// A host that keeps the metadata from before a fix, or before a version was withdrawn, takes nothing back from an old app;
    /// nor does one that sends the old file under the new metadata.
    @Test func aHostKeepsAnOldApp() async throws {
        let old = folder["old-site"]
        try await Tool.run("cp", "-a", testSite.site, old)
        let oldPacks = Set(try Tree(old).files.filter { $0.hasSuffix(".avpack") })
        #expect(try await content(for: "1", in: testSite.store) == "one")
        try await publish("one, fixed", for: ["before": "2.0"])

        // The old file in the place of the fix.
        let fixed = try #require(
            try Tree(testSite.site).files.first { $0.hasSuffix(".avpack") && !oldPacks.contains($0) })
        let honest = try folder.bytes("vault/site/\(fixed)")
        for former in oldPacks.sorted() {
            try folder.write("vault/site/\(fixed)", folder.bytes("old-site/\(former)"))
            let result = try await fetch(from: testSite.site)
            #expect([65, 76].contains(result.exitCode), "\(result.errorText)")
            #expect(try await present() == "one")
            let fresh = try await fetch(from: testSite.site, into: folder["fresh"])
            #expect([65, 76].contains(fresh.exitCode), "\(fresh.errorText)")
            #expect(try await testSite.status(of: folder["fresh"])["level"]?.version == nil)
        }
        try folder.write("vault/site/\(fixed)", honest)
        #expect(try await content(for: "1", in: testSite.store) == "one, fixed")

        // The old site as a whole.
        try await fetch(from: old).failed(76)
        #expect(try await present() == "one, fixed")

        // The version for the old app is listed no more; it keeps what it has.
        try await publish("three", for: ["from": "3.0"], supporting: ["from": "2.5"])
        #expect(try await content(for: "1", in: testSite.store) == "one, fixed")
        try await fetch(from: old).failed(76)
        #expect(try await present() == "one, fixed")
        try await fetch(from: testSite.site, into: folder["new"]).succeeded()
        #expect(try await testSite.status(of: folder["new"])["level"]?.version == nil)
    }

    private func fetch(from site: String, into store: String? = nil) async throws -> CommandResult {
        try await Command.run(
            [
                "fetch", site, "--all", "--store", store ?? testSite.store, "--trust", testSite.root,
                "--app-version", "1",
            ] + testSite.keys)
    }

    /// What the store has, without any host.
    private func present() async throws -> String {
        try String(contentsOfFile: try await testSite.path(of: "level") + "/file", encoding: .utf8)
    }
}
