import AssetVault
import FaultServer
import StrictJSON
import Synchronization
import VaultAuthoring
import VaultFileSystem

/// A game whose packs are made by tags, hosted: `level1` (essential) to `level4` with a map each, and a texture that levels 2 and 3
/// share.
final class ResourceGame: Sendable {
    let game: Game
    let server: FaultServer
    private let script: Script
    private let metadata: Script

    static func map(_ level: Int) -> [UInt8] { noise(200_000 + level, seed: UInt64(level)) }
    static let texture = noise(300_000, seed: 9)

    private static let published = Task {
        let game = try await Game()
        try await game.publishLevels()
        return try game.image()
    }

    init() async throws {
        game = try Game(try await Self.published.value)
        let (script, metadata) = (Script(), Script())
        (self.script, self.metadata) = (script, metadata)
        server = try FaultServer(game.place.vault.site.string) {
            $0.isForPack ? script.answer(to: $0) : metadata.answer(to: $0)
        }
    }

    /// How packs are answered for from now on.
    func answer(_ script: @escaping @Sendable (FaultServer.Request) -> FaultServer.Answer) {
        self.script.current.withLock { $0 = script }
    }

    /// The same for metadata.
    func answerMetadata(_ script: @escaping @Sendable (FaultServer.Request) -> FaultServer.Answer) {
        metadata.current.withLock { $0 = script }
    }

    /// Packs come at about 2 MB/s each from now on.
    func slowDown() {
        answer { _ in .changed { $0.pace = (count: 1 << 14, pause: .milliseconds(8)) } }
    }

    /// Packs stop after half of their bytes until ``release()``.
    func hold() {
        let isReleased = isReleased
        answer { _ in
            .changed { reply in
                let rest = Array(reply.body.suffix(reply.body.count / 2))
                reply.body.removeLast(rest.count)
                reply.ending = [.until { isReleased.isSet }, .bytes(rest), .close]
            }
        }
    }

    func release() { isReleased.set() }

    private let isReleased = Flag()

    private final class Script: Sendable {
        let current = Mutex<@Sendable (FaultServer.Request) -> FaultServer.Answer>({ _ in .file })

        func answer(to request: FaultServer.Request) -> FaultServer.Answer {
            current.withLock { $0 }(request)
        }
    }

    func client(_ change: (inout VaultConfiguration) -> Void = { _ in }) throws -> VaultClient {
        var configuration = VaultConfiguration(
            site: try SiteLocation(server.url), store: game.place.layout,
            trustedRoot: try DurableFile.read(game.place.vault.trustedRoot, limit: 1 << 20),
            keys: game.place.keys)
        configuration.retries.firstBackoff = .milliseconds(10)
        change(&configuration)
        return try VaultClient(configuration)
    }

    /// The paths of the packs that were asked for.
    var askedPacks: Set<String> {
        Set(server.exchanges.map(\.request).filter(\.isForPack).map(\.path))
    }
}

extension Game {
    fileprivate func publishLevels() async throws {
        let source = FilePath(place.root).appending("tree")
        for level in 1...4 {
            try write(ResourceGame.map(level), to: source.pushing(FilePath("levels/\(level)/map")))
        }
        try write(ResourceGame.texture, to: source.pushing("textures/grass"))
        let file = place.vault.path.appending("vault.json")
        let bytes = try DurableFile.read(file, limit: 1 << 20)
        var json = try JSONValue(parsing: bytes.span, place: "vault.json").asObject(at: "vault.json")
        var rules = (1...4).map { level -> JSONValue in
            ["paths": .string("levels/\(level)/**"), "tags": [.string("level\(level)")]]
        }
        rules.append(["paths": "textures/**", "tags": ["level2", "level3"]])
        json["resources"] = [
            "game": ["source": .string(source.string), "rules": .array(rules), "initial": ["level1"]]
        ]
        try DurableFile.write(
            JSONValue.object(json).pretty().span, to: file, permissions: 0o644, replacing: true)
        _ = try await Publication.run(of: place.vault, AuthorRequest(keys: place.keys, now: .now))
    }

    private func write(_ bytes: [UInt8], to file: FilePath) throws {
        try FileSystem.createFolders(file.removingLastComponent(), permissions: 0o755)
        try OpenFile(creating: file, permissions: 0o644).write(bytes.span, at: 0)
    }
}
