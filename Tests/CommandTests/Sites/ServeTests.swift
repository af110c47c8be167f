import Foundation
import Testing

/// The development server as a process; its own tests compare its answers with nginx's.
struct ServeTests {
    let testSite: TestSite
    init() async throws { testSite = try await TestSite() }

    @Test func printsItsURLWhenItIsReady() async throws {
        try await testSite.served { url in
            #expect(url.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\//) != nil, "\(url)")
            let answer = try await Tool.run("curl", "--silent", "--fail", "\(url)metadata/1.root.json")
            #expect(answer.output == (try testSite.folder.bytes("vault/trusted-root.json")))
            let part = try await Tool.run(
                "curl", "--silent", "--include", "--range", "0-9", "\(url)metadata/1.root.json")
            #expect(part.text.hasPrefix("HTTP/1.1 206"))
        }
    }

    @Test func listensOnTheGivenPort() async throws {
        let port = try ListeningSocket().port
        try await Command.whileRunning(["serve", testSite.site, "--port", "\(port)"]) { server in
            #expect(try await server.firstLine() == "http://127.0.0.1:\(port)/")
            try await Command.run("serve", testSite.site, "--port", "\(port)").failed(75, naming: "\(port)")
        }
    }

    /// Files beside the site, such as keys, are not served.
    @Test func servesNothingElse() async throws {
        try await testSite.served { url in
            for path in [
                "../keys/vault.jwks", "metadata/../../keys/vault.jwks", "%2e%2e/keys/vault.jwks",
                "../vault.json",
            ] {
                let answer = try await Tool.run(
                    "curl", "--silent", "--path-as-is", "--write-out", "%{http_code}", "\(url)\(path)")
                #expect(answer.text.hasSuffix("404"), "\(path): \(answer.text)")
            }
        }
    }

    @Test func needsASite() async throws {
        try await Command.run("serve", testSite.folder["nowhere"]).failed(
            66, naming: testSite.folder["nowhere"])
        try await Command.run("serve", testSite.vault).failed(66, naming: testSite.vault)
        try await Command.run("serve", testSite.site, "--port", "70000").failed(64)
    }
}
