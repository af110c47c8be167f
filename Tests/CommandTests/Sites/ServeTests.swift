import TestFiles
import Testing

/// The development server's port, and what it prints. `Scripts/Sites/serve.txt` has what it answers.
struct ServeTests {
    let world: World
    init() async throws { world = try await World() }

    @Test func listensOnTheGivenPort() async throws {
        let port = try ListeningSocket().port
        try await world.whileRunning("serve $SITE --port \(port)") { server in
            #expect(try await server.firstLine() == "http://127.0.0.1:\(port)/")
            try await world.run("serve $SITE --port \(port)").failed(75, naming: "\(port)")
        }
    }

    /// What the options broke stands on standard error, so that nobody takes it for a bug of the app.
    @Test(
        arguments: [
            (["--error-rate", "1"], "fault: status 503 for /metadata/1.root.json\n"),
            (["--fail-after", "10"], "bytes of /metadata/1.root.json\n"), ([], nil),
        ] as [([String], String?)])
    func aFaultIsNamed(options: [String], expected: String?) async throws {
        let errors = world["errors"]
        try await world.whileRunning(
            "serve $SITE \(options)", through: ["sh", "-c", "exec \"$@\" 2>'\(errors)'", "sh"]
        ) { server in
            let url = try await server.firstLine()
            _ = try await Tool.run([
                "curl", "--silent", "--output", "/dev/null", "\(url)metadata/1.root.json",
            ])
        }
        let text = try world.text("errors")
        #expect(expected.map { text.hasSuffix($0) } ?? text.isEmpty, "\(text)")
    }
}
