import AssetVault
import FaultServer
import StrictJSON
import Synchronization
import VaultAuthoring
import VaultFileSystem

/// A game with two packs, hosted: `levels/one` and, on demand, `extras`.
final class HostedGame: Sendable {
    let game: Game
    let server: FaultServer
    private let script: Script

    static let one = noise(900_000, seed: 1)
    static let extras = noise(300_000, seed: 2)

    private static let onDemand = ["extras": "onDemand"]

    /// Published once in a process: each test has a copy.
    private static let published = Task {
        let game = try await Game()
        try await game.publish(["noise": one])
        try await game.publish(["noise": extras], as: "extras")
        let image = try game.image()
        try await game.declare(onDemand)
        return (withoutPolicies: image, onDemand: try game.image())
    }

    init(policies: [String: String] = onDemand) async throws {
        let published = try await Self.published.value
        let isPrepared = policies == Self.onDemand
        game = try Game(isPrepared ? published.onDemand : published.withoutPolicies)
        let script = Script()
        self.script = script
        server = try FaultServer(game.place.vault.site.string) {
            $0.isForPack ? script.answer(to: $0) : .file
        }
        if !isPrepared { try await game.declare(policies) }
    }

    /// How packs are answered for from now on.
    func answer(_ script: @escaping @Sendable (FaultServer.Request) -> FaultServer.Answer) {
        self.script.current.withLock { $0 = script }
    }

    /// By itself, so that the server does not keep the game, which has the server: both are gone with the test.
    private final class Script: Sendable {
        let current = Mutex<@Sendable (FaultServer.Request) -> FaultServer.Answer>({ _ in .file })

        func answer(to request: FaultServer.Request) -> FaultServer.Answer {
            current.withLock { $0 }(request)
        }
    }

    /// Changes the policies of packs, and publishes that.
    func declare(_ policies: [String: String]) async throws { try await game.declare(policies) }

    /// Changes the tags of packs, and publishes that.
    func tag(_ tags: [String: [String]]) async throws {
        try await game.set("tags", of: tags.mapValues { .array($0.map(JSONValue.string)) })
    }

    /// Puts packs at places of the site's list, and publishes that.
    func list(_ places: [String: Int64]) async throws {
        try await game.set("order", of: places.mapValues(JSONValue.integer))
    }

    /// Takes a pack off the site.
    func withdraw(_ id: PackID) async throws {
        try await game.publish { $0[id.description] = nil }
    }

    func configuration(keys: Bool = true) throws -> VaultConfiguration {
        var configuration = VaultConfiguration(
            site: try SiteLocation(server.url), store: game.place.layout,
            trustedRoot: try DurableFile.read(game.place.vault.trustedRoot, limit: 1 << 20),
            keys: keys ? game.place.keys : nil)
        configuration.retries.firstBackoff = .milliseconds(10)
        return configuration
    }

    func client(keys: Bool = true) throws -> VaultClient { try VaultClient(configuration(keys: keys)) }

    func downloader() throws -> PackDownloader { try PackDownloader(configuration(keys: false)) }

    /// The bytes of a hosted pack's file.
    func hosted(_ pack: PackManifest) throws -> [UInt8] {
        let (folder, name) = pack.id.description.splitLast("/")
        let path = "targets/packs/\(folder)\(pack.sha256.hex).\(name).avpack"
        return try DurableFile.read(game.place.vault.site.pushing(FilePath(path)), limit: 1 << 28)
    }
}

extension Game {
    /// Changes the policies of packs, and publishes that.
    fileprivate func declare(_ policies: [String: String]) async throws {
        try await set("policy", of: policies.mapValues(JSONValue.string))
    }

    /// Changes one member of what `vault.json` says of packs, and publishes that.
    func set(_ member: String, of values: [String: JSONValue]) async throws {
        try await publish { packs throws(VaultError) in
            for (id, value) in values {
                var pack = try packs.object(id, at: "vault.json")
                pack[member] = value
                packs[id] = .object(pack)
            }
        }
    }

    /// Lists all packs in hash bins, and publishes that.
    func publishInBins(_ count: Int64) async throws {
        try await publishSettings { $0["bins"] = .integer(count) }
    }

    /// Changes what `vault.json` says of packs, and publishes that.
    fileprivate func publish(changing change: (inout JSONObject) throws(VaultError) -> Void) async throws {
        try await publishSettings { json throws(VaultError) in
            var packs = try json.object("packs", at: "vault.json")
            try change(&packs)
            json["packs"] = .object(packs)
        }
    }

    private func publishSettings(
        changing change: (inout JSONObject) throws(VaultError) -> Void
    ) async throws {
        let file = place.vault.path.appending("vault.json")
        let bytes = try DurableFile.read(file, limit: 1 << 20)
        var json = try JSONValue(parsing: bytes.span, place: "vault.json").asObject(at: "vault.json")
        try change(&json)
        let changed = JSONValue.object(json).pretty()
        try DurableFile.write(changed.span, to: file, permissions: 0o644, replacing: true)
        _ = try await Publication.run(of: place.vault, AuthorRequest(keys: place.keys, now: .now))
    }
}

extension String {
    /// Up to and with the last separator, and what follows it.
    fileprivate func splitLast(_ separator: Character) -> (String, String) {
        guard let index = lastIndex(of: separator) else { return ("", self) }
        return (String(self[...index]), String(self[self.index(after: index)...]))
    }
}
