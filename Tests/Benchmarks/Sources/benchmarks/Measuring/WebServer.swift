import FoundationEssentials
import Glibc

/// nginx on loopback, which serves a folder and logs the bytes sent.
struct WebServer: Sendable {
    let port: Int
    /// What is served; links are followed.
    let root: String
    private let log: String
    private let process: pid_t

    /// Starts nginx in the foreground, as this user; everything that it writes stands in `folder`, which is made.
    init(in folder: String) throws {
        root = folder + "/root"
        log = folder + "/access.log"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let first = 20_000 + Int(getpid()) % 20_000
        for port in first..<first + 5 {
            if let process = try Self.start(port: port, in: folder) {
                self.port = port
                self.process = process
                return
            }
        }
        let said = (try? String(contentsOfFile: folder + "/error.log", encoding: .utf8)) ?? ""
        throw Failure("nginx does not start: \(said)")
    }

    func close() {
        kill(process, SIGTERM)
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }

    /// Clears the log.
    func clearLog() { unsafe truncate(log, 0) }

    /// The bytes sent since the log was cleared.
    func traffic() throws -> Traffic {
        usleep(50_000)  // A request is logged when it has ended.
        return try Traffic(log: String(contentsOfFile: log, encoding: .utf8))
    }

    /// nil when it ends by itself, as it does when another has the port.
    private static func start(port: Int, in folder: String) throws -> pid_t? {
        let marker = folder + "/pid"
        try configuration(port: port, in: folder)
            .write(toFile: folder + "/nginx.conf", atomically: true, encoding: .utf8)
        // It must not outlive this process.
        let process = try ChildProcess.start(
            [
                "/usr/bin/setpriv", "--pdeathsig", "TERM",
                "nginx", "-e", folder + "/error.log", "-c", folder + "/nginx.conf",
            ], environment: ["PATH": Workshop.path], errors: folder + "/errors")
        // The marker is written once nginx listens; a taken port is tried for about three seconds.
        for _ in 0..<50 {
            if FileManager.default.fileExists(atPath: marker) { return process }
            usleep(100_000)
            if waitpid(process, nil, WNOHANG) == process { return nil }
        }
        kill(process, SIGTERM)
        waitpid(process, nil, 0)
        return nil
    }

    /// Without `tcp_nopush`, as by nginx's default: a packet on loopback has up to 64 KB, and the end of a response would wait for the
    /// client's delayed acknowledgement, up to 40 ms.
    private static func configuration(port: Int, in folder: String) -> String {
        """
        daemon off;
        \(geteuid() == 0 ? "user root;" : "")
        pid \(folder)/pid;
        error_log \(folder)/error.log;
        events { worker_connections 64; }
        http {
            log_format sizes '$body_bytes_sent $bytes_sent $uri';
            access_log \(folder)/access.log sizes;
            client_body_temp_path \(folder)/body;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
            sendfile on;
            keepalive_requests 100000;
            server {
                listen 127.0.0.1:\(port);
                root \(folder)/root;
            }
        }

        """
    }
}

/// The bytes sent, by nginx's log.
struct Traffic: Codable, Sendable {
    /// Bodies of packs.
    var packs = 0
    /// Everything: all bodies and all heads.
    var total = 0
    var requests = 0

    init(log: String) throws {
        for line in log.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let body = Int(words[0]), let all = Int(words[1]) else {
                throw Failure("what does nginx mean by '\(line)'?")
            }
            requests += 1
            total += all
            if words[2].hasSuffix(".avpack") { packs += body }
        }
    }
}
