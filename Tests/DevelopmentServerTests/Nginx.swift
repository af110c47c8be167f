import Foundation
import NIOCore
import NIOPosix
import Testing

/// Runs nginx over `root` during `body`, which gets the port.
func withNginx<R>(_ root: URL, _ body: (Int) async throws -> R) async throws -> R {
    try await withFolder { folder in
        let port = try await freePort()
        let temporaries = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/\($0);" }.joined(separator: "\n")
        let configuration = """
            daemon off; pid \(folder.path)/pid; error_log \(folder.path)/error.log; worker_processes 1;
            \(geteuid() == 0 ? "user root;" : "")
            events {}
            http {
                access_log off; default_type application/octet-stream;
                \(temporaries)
                server { listen 127.0.0.1:\(port); root \(root.path); }
            }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
        let nginx = Process()
        nginx.executableURL = URL(filePath: "/usr/sbin/nginx")
        nginx.arguments = [
            "-p", folder.path, "-c", "\(folder.path)/nginx.conf", "-e", "\(folder.path)/error.log",
        ]
        try nginx.run()
        defer {
            nginx.terminate()
            nginx.waitUntilExit()
        }
        while nginx.isRunning {
            if (try? await exchange(port, "GET / HTTP/1.0\r\n\r\n")) != nil { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        try #require(nginx.isRunning, "nginx didn't start")
        return try await body(port)
    }
}

/// A port of 127.0.0.1 that was free just before.
private func freePort() async throws -> Int {
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(channel.localAddress?.port)
    try await channel.close()
    return port
}
