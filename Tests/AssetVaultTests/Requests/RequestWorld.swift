import FaultServer
import Synchronization
import SystemPackage
import VaultAuthoring
import VaultFileSystem

@testable import AssetVault

/// A store that processes use, and the host that they ask.
final class RequestWorld: Sendable {
    enum Network: CaseIterable {
        case good
        /// Packs take so long that processes die meanwhile.
        case slow
        case cut
        case failing
        case gone

        var isSound: Bool { self == .good || self == .slow }
    }

    /// Bytes that all requests may have in access: two or three levels.
    static let limit: UInt64 = 190_000

    let site: LevelSite
    let layout: StoreLayout
    private let scratch: ScratchFolder
    private let host: Host
    private let server: FaultServer
    private let peers = Mutex<[(process: RequestPeer, name: String)]>([])
    private let started = Mutex(0)

    init(_ site: LevelSite, processes count: Int) throws {
        self.site = site
        scratch = try ScratchFolder(in: "/dev/shm")
        layout = StoreLayout(root: scratch.path.appending("store"))
        let (host, served) = (Host(site), scratch.path.appending("served"))
        try FileSystem.createFolders(served, permissions: 0o755)
        self.host = host
        server = try FaultServer(served.string) { host.answer(to: $0) }
        for _ in 0..<count {
            let peer = try start()
            peers.withLock { $0.append(peer) }
        }
    }

    var count: Int { peers.withLock { $0.count } }

    func peer(_ place: Int) -> RequestPeer { peers.withLock { $0[place].process } }

    /// A new process in the place of one that was killed.
    func restart(_ place: Int) throws {
        let peer = try start()
        peers.withLock { $0[place] = peer }
    }

    /// Each process asks by a name of its own for the site.
    private func start() throws -> (RequestPeer, String) {
        let number = started.withLock { started in
            started += 1
            return started
        }
        let name = "process\(number)"
        let vault = site.world.place.vault
        try Folder(opening: scratch.path.appending("served")).symlink(name, target: vault.site)
        return (try RequestPeer(of: server.url + name + "/", layout, vault, limit: Self.limit), name)
    }

    /// How often a process has asked the host.
    func requestCount(of place: Int) -> Int {
        let name = peers.withLock { $0[place].name }
        return host.state.withLock { $0.counts[name] ?? 0 }
    }

    /// Returns when what a process sent for an earlier move, which it cancelled, has arrived at the host.
    func settle(_ place: Int) async throws {
        var count = -1
        while count != requestCount(of: place) {
            count = requestCount(of: place)
            // On a busy machine process and host may have to wait for their turn.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    var network: Network {
        get { host.state.withLock { $0.network } }
        set { host.state.withLock { $0.network = newValue } }
    }

    /// The version of the site that is published.
    var version: Int {
        get { host.state.withLock { $0.version } }
        set { host.state.withLock { $0.version = newValue } }
    }

    /// The version of each pack that is live, by the links on the disk.
    func liveVersions() throws -> [PackID: UInt64] {
        var found: [PackID: UInt64] = [:]
        for id in site.packs.keys {
            guard let home = try? Folder(opening: layout.home(of: id)),
                let target = try home.readLink("current"), let name = VersionName(target.string),
                try home.status(of: name.text) != nil
            else { continue }
            found[id] = name.version
        }
        return found
    }

    /// The versions that are not there.
    func missing(of versions: [PackID: UInt64]) -> [String] {
        versions.filter { id, version in
            let names = (try? Folder(opening: layout.home(of: id)).names()) ?? []
            return !names.contains { VersionName(String(decoding: $0, as: UTF8.self))?.version == version }
        }.map { "\($0) \($1)" }
    }

    func freeBytes() throws -> UInt64 { try FileSystem.availableSpace(at: scratch.path) }

    /// Lets a pack look as if it was read last at that time.
    func setLastUse(of id: PackID, to seconds: Int64) {
        try? Folder(opening: layout.home(of: id)).setModified("current", to: seconds)
    }

    /// Everything that the store holds.
    func names() throws -> [String] {
        var found: [String] = []
        try Folder(opening: layout.permanent.removingLastComponent()).forEachEntry { path, status in
            found.append(path + (status.kind == .folder ? "/" : ""))
        }
        return found
    }
}

/// What processes are answered.
private final class Host: Sendable {
    struct State {
        var network = RequestWorld.Network.good
        var version = 1
        var counts: [String: Int] = [:]
    }

    let state = Mutex(State())
    private let site: LevelSite

    init(_ site: LevelSite) { self.site = site }

    func answer(to request: FaultServer.Request) -> FaultServer.Answer {
        let (network, version) = state.withLock { state in
            state.counts[request.path.split(separator: "/").first.map(String.init) ?? "", default: 0] += 1
            return (state.network, state.version)
        }
        switch network {
        case .gone: return .hangUp
        case .failing: return .status(503)
        case .cut where request.isForPack: return .cut(after: 4000)
        case .slow where request.isForPack: return .changed { $0.pace = (4 << 10, .milliseconds(2)) }
        case .good, .slow, .cut: break
        }
        guard request.path.hasSuffix("metadata/timestamp.json") else { return .file }
        let bytes = site.timestamp(of: version)
        return .bytes(bytes, length: bytes.count)
    }
}
