import Synchronization
import SystemPackage
import VaultBase
import VaultFileSystem
import VaultTransport

/// Serves `http://host.test` from a folder, and interrupts transfers on request.
final class MappedHost: Transport {
    static let url = "http://host.test"

    private let root: FilePath
    private let state: Mutex<State>

    private struct State {
        /// Transfers of packs that are still to break off half-way.
        var interruptions: Int
        var requests: [TransportRequest] = []
    }

    init(_ root: FilePath, interruptions: Int = 0) {
        self.root = root
        state = Mutex(State(interruptions: interruptions))
    }

    /// Every request for a pack, in order.
    var packRequests: [TransportRequest] {
        state.withLock { $0.requests.filter { $0.location.description.hasSuffix(".avpack") } }
    }

    func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        let path = root.appending(String(request.location.description.dropFirst(Self.url.count + 1)))
        let isPack = path.extension == "avpack"
        let breaks = state.withLock { state in
            state.requests.append(request)
            guard isPack, state.interruptions > 0 else { return false }
            state.interruptions -= 1
            return true
        }
        let file = TransportRequest(
            SiteLocation(path: path), range: request.range, limit: request.limit)
        guard breaks else { return try await FileTransport().get(file) }
        // A body that is declared whole and whose file is then another, shorter one ends too early.
        let whole = try DurableFile.read(path, limit: 1 << 24)
        let copy = path.removingLastComponent().appending("short")
        try DurableFile.write(whole.span, to: copy, permissions: 0o600, replacing: true)
        let response = try await FileTransport().get(
            TransportRequest(SiteLocation(path: copy), range: request.range, limit: request.limit))
        try OpenFile(updating: copy).truncate(to: UInt64(whole.count / 2))
        try FileSystem.removeFile(copy)
        return response
    }
}
