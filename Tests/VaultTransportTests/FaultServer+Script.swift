import FaultServer
import VaultTransport

extension FaultServer {
    func location(_ path: String = "file") throws -> SiteLocation { try SiteLocation(base).appending(path) }
}

/// Runs a server that responds to every request as `script` returns for its head.
func withFaultServer<R>(
    secure: Bool = false, _ script: @escaping @Sendable (_ head: String, _ base: String) -> [Step],
    _ body: (FaultServer) async throws -> R
) async throws -> R {
    let server = try FaultServer(secure: secure) { script($0.head, $0.base) }
    let result = try await body(server)
    try await server.stop()
    return result
}

/// The same response to all requests.
func withFaultServer<R>(
    secure: Bool = false, always steps: [Step], body: (FaultServer) async throws -> R
) async throws -> R {
    try await withFaultServer(secure: secure, { _, _ in steps }, body)
}

func withFaultServer<R>(_ steps: Step..., body: (FaultServer) async throws -> R) async throws -> R {
    try await withFaultServer(always: steps, body: body)
}
