import Foundation
import SystemPackage

/// nginx as one process that serves a folder.
public struct Nginx: Sendable {
    public let port: UInt16
    public var url: String { "http://127.0.0.1:\(port)/" }
    private let folder: TemporaryFolder

    /// Why it did not start.
    private struct Failure: Error { let log: String }

    /// Runs it while `body` runs; the server's settings are in nginx's own words.
    @discardableResult
    public static func run<R>(
        over root: String, settings: String = "", port: UInt16? = nil,
        _ body: (Nginx) async throws -> R
    ) async throws -> R {
        let folder = try TemporaryFolder()
        // Another process may take a free port before nginx does.
        for _ in 1...(port == nil ? 10 : 1) {
            let nginx = Nginx(port: try port ?? ListeningSocket().port, folder: folder)
            let process = try nginx.start(over: root, settings)
            defer {
                // Its threads' signals may be blocked, as they are in the one that starts it.
                if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                process.waitUntilExit()
            }
            let deadline = ContinuousClock.now + .seconds(120)
            while process.isRunning, .now < deadline {
                // It writes this when it listens.
                if try folder.names().contains("pid") { return try await body(nginx) }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        throw Failure(log: String(decoding: try folder.bytes("error.log"), as: UTF8.self))
    }

    private func start(over root: String, _ settings: String) throws -> Process {
        let work = folder.path.string
        let temporaries = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(work)/\($0);" }.joined(separator: "\n")
        let configuration = """
            daemon off; master_process off; pid \(work)/pid;
            events {}
            http {
                default_type application/octet-stream;
                log_format sent '$request_uri $status $body_bytes_sent';
                access_log \(work)/access.log sent;
                \(temporaries)
                server { listen 127.0.0.1:\(port); root \(root); \(settings) }
            }
            """
        let file = try folder.write("nginx.conf", Array(configuration.utf8))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/sbin/nginx")
        process.arguments = ["-p", work, "-c", file.string, "-e", "\(work)/error.log"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Bytes of pack bodies that it sent.
    public func packBytes() throws -> Int {
        // A client may have the last bytes before they are in the log. nginx, a single thread, answers again only when they are.
        try ask()
        let log = String(decoding: try folder.bytes("access.log"), as: UTF8.self)
        return log.split(separator: "\n").reduce(0) {
            let words = $1.split(separator: " ")
            return words[0].hasSuffix(".avpack") ? $0 + (Int(words[2]) ?? 0) : $0
        }
    }

    /// Sends a request on a connection of its own, and returns after the answer.
    private func ask() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/curl")
        process.arguments = ["--silent", "--output", "/dev/null", url]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(log: "it does not answer") }
    }
}
