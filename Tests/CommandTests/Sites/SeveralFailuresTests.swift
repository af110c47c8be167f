import FaultServer
import Foundation
import Testing

/// Each of several failed packs is reported.
struct SeveralFailuresTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite(publishing: ["first", "second", "third"])
        folder = testSite.folder
    }

    /// One line each, the error that decides on the exit code last.
    private func expect(
        _ result: CommandResult, _ code: Int32, naming ids: [String],
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(result.exitCode == code, sourceLocation: location)
        let lines = result.errorText.split(separator: "\n").filter { $0.hasPrefix("assetvault: ") }
        #expect(lines.count == ids.count, "\(result.errorText)", sourceLocation: location)
        for id in ids {
            #expect(
                lines.count { $0.contains(id) } == 1, "\(result.errorText)", sourceLocation: location)
        }
        #expect(
            result.errorText.hasSuffix("\(lines.last ?? "-")\n"), "\(result.errorText)",
            sourceLocation: location)
    }

    private func failing() throws -> FaultServer {
        try FaultServer(testSite.site) { request in
            request.isForPack && !request.path.hasSuffix("second.avpack") ? .status(404) : .file
        }
    }

    @Test func fetch() async throws {
        let server = try failing()
        let result = try await testSite.fetch(server.url)
        expect(result, 72, naming: ["first", "third"])
        #expect(result.errorText.contains("loaded  second\n"))
        // Packs that ran out of time have not failed.
        let slow = try FaultServer(testSite.site) { $0.isForPack ? .steps([.hang]) : .file }
        expect(try await testSite.fetch(slow.url, "--time", "2"), 75, naming: ["the time is up"])
    }

    @Test func fetchOfDisallowedPacks() async throws {
        let result = try await testSite.fetch(nil, "--installed-size", "1")
        expect(result, 78, naming: ["first", "second", "third"])
    }

    @Test func downloader() async throws {
        let server = try failing()
        let words = ["--store", testSite.store, "--trust", testSite.root, "--request", "install"]
        let result = try await Command.run(["downloader", server.url] + words)
        expect(result, 72, naming: ["first", "third"])
    }

    @Test func unlock() async throws {
        try await testSite.fetch(withKeys: false).succeeded()
        try await Command.run("keygen", "-o", folder["wrong.jwks"]).succeeded()
        let result = try await Command.run(
            "unlock", "--store", testSite.store, "--keys", "file:\(folder["wrong.jwks"])", "--wait", "1")
        expect(result, 77, naming: ["first", "second", "third"])
    }

    @Test func repair() async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        for id in ["first", "third"] {
            let path = URL(filePath: try await testSite.path(of: id)).resolvingSymlinksInPath()
            var bytes = try Data(contentsOf: path)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: path)
        }
        let server = try failing()
        let result = try await Command.run(
            "repair", server.url, "--store", testSite.store, "--trust", testSite.root)
        expect(result, 72, naming: ["first", "third"])
    }
}
