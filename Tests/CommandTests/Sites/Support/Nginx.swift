import Foundation
import Subprocess
import SystemPackage
import Testing

/// nginx as one process that serves a folder.
struct Nginx: Sendable {
    let url: String
    private let log: FilePath

    /// Runs it while `body` runs; the server's settings are in nginx's own words.
    @discardableResult
    static func run<Value: Sendable>(
        over site: String, in folder: some Workplace, settings: String = "", port: UInt16? = nil,
        _ body: (Nginx) async throws -> Value
    ) async throws -> Value {
        let port = try port ?? ListeningSocket().port
        let work = try folder.makeFolder("nginx-\(UUID().uuidString)")
        let temporaries = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(work)/\($0);" }.joined(separator: "\n")
        let configuration = """
            daemon off; master_process off; pid \(work)/pid; error_log \(work)/error.log;
            events {}
            http {
                default_type application/octet-stream;
                log_format sent '$request_uri $status $body_bytes_sent';
                access_log \(work)/access.log sent;
                \(temporaries)
                server { listen 127.0.0.1:\(port); root \(site); \(settings) }
            }
            """
        try Data(configuration.utf8).write(to: URL(filePath: "\(work)/nginx.conf"))
        let result = try await Subprocess.run(
            .path("/usr/sbin/nginx"),
            arguments: ["-p", work, "-c", "\(work)/nginx.conf", "-e", "\(work)/error.log"],
            input: .none, output: .discarded, error: .discarded
        ) { execution in
            let process = execution.processIdentifier.value
            defer { kill(process, SIGTERM) }
            for _ in 0..<500 where !FileManager.default.fileExists(atPath: "\(work)/pid") {
                try await Task.sleep(for: .milliseconds(20))
            }
            return try await body(
                Nginx(url: "http://127.0.0.1:\(port)/", log: FilePath("\(work)/access.log")))
        }
        return result.closureResult
    }

    /// Bytes of pack bodies in the access log.
    func packBytes() throws -> Int {
        try String(contentsOfFile: log.string, encoding: .utf8).split(separator: "\n").reduce(0) {
            let words = $1.split(separator: " ")
            return words[0].hasSuffix(".avpack") ? $0 + (Int(words[2]) ?? 0) : $0
        }
    }
}
