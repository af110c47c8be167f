import SealedPack
import SystemPackage
import TestFiles
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem

/// What the vault publishes.
extension World {
    /// Publishes exactly these files as the next version of a pack.
    func publish(_ files: [String: [UInt8]], as id: String = World.id, _ compression: Compression? = nil)
        async throws
    {
        let name = "source of \(id.split(separator: "/").joined(separator: " "))"
        let source = FilePath(place.root).appending(name)
        try FileSystem.removeTree(source)
        try FileSystem.createFolders(source, permissions: 0o755)
        for (path, bytes) in files { try write(bytes, to: "\(name)/\(path)") }
        try await publish(source, as: id, compression)
    }

    /// Publishes a folder.
    func publish(_ source: FilePath, as id: String = World.id, _ compression: Compression? = nil) async throws
    {
        let id = try PackID(id)
        var order = AuthorRequest(keys: place.keys, now: .now)
        order.compression = compression
        _ = try await Publication.run(
            of: place.vault, order,
            editing: { settings throws(VaultError) in try settings.declare(id, source: source) })
    }

    /// Publishes what is declared.
    @discardableResult
    func publish() async throws -> PublicationReport {
        try await Publication.run(of: place.vault, AuthorRequest(keys: place.keys, now: .now))
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = FilePath(place.root).pushing(FilePath(path))
        try FileSystem.createFolders(file.removingLastComponent(), permissions: 0o755)
        try DurableFile.write(bytes.span, to: file, permissions: 0o644, replacing: true)
    }

    // MARK: - Settings

    /// Changes what `vault.json` says.
    func settings(_ change: (inout JSONObject) throws(VaultError) -> Void) throws {
        let file = place.vault.path.appending("vault.json")
        let bytes = try DurableFile.read(file, limit: 1 << 20)
        var json = try JSONValue(parsing: bytes.span, place: "vault.json").asObject(at: "vault.json")
        try change(&json)
        let changed = JSONValue.object(json).pretty()
        try DurableFile.write(changed.span, to: file, permissions: 0o644, replacing: true)
    }

    /// Changes a member of some packs, and publishes that.
    func declare(_ member: String, of packs: [String: JSONValue]) async throws {
        try settings { json throws(VaultError) in
            var declared = try json.object("packs", at: "vault.json")
            for (id, value) in packs {
                var pack = try declared.object(id, at: "vault.json")
                pack[member] = value
                declared[id] = .object(pack)
            }
            json["packs"] = .object(declared)
        }
        try await publish()
    }

    /// Changes the policies of packs, and publishes that.
    func declare(_ policies: [String: String]) async throws {
        try await declare("policy", of: policies.mapValues(JSONValue.string))
    }

    /// Changes the tags of packs, and publishes that.
    func tag(_ tags: [String: [String]]) async throws {
        try await declare("tags", of: tags.mapValues { .array($0.map(JSONValue.string)) })
    }

    /// Puts packs at places of the site's list, and publishes that.
    func list(_ places: [String: Int64]) async throws {
        try await declare("order", of: places.mapValues(JSONValue.integer))
    }

    /// Takes a pack off the site.
    func withdraw(_ id: PackID) async throws {
        try settings { json throws(VaultError) in
            var packs = try json.object("packs", at: "vault.json")
            packs[id.description] = nil
            json["packs"] = .object(packs)
        }
        try await publish()
    }

    /// Lists all packs in hash bins, and publishes that.
    func publishInBins(_ count: Int64) async throws {
        try settings { $0["bins"] = .integer(count) }
        try await publish()
    }

    // MARK: - Trees

    /// Writes a file of the tree.
    func write(_ bytes: [UInt8], toTree path: String) throws { try write(bytes, to: "tree/\(path)") }

    /// Declares the tree `game`, with the tags of its folders.
    func declareTree(
        _ tags: [(folder: String, tags: [String])], initial: [String] = [], preservation: JSONObject = [:]
    ) throws {
        let rules = tags.map { folder, tags -> JSONValue in
            ["paths": .string("\(folder)/**"), "tags": .array(tags.map(JSONValue.string))]
        }
        let source = FilePath(place.root).appending("tree").string
        try settings {
            $0["resources"] = [
                "game": [
                    "source": .string(source), "rules": .array(rules),
                    "initial": .array(initial.map(JSONValue.string)), "preservation": .object(preservation),
                ]
            ]
        }
    }
}

/// Worlds that are published once in a process: each test has a copy.
extension World {
    static let one = noise(900_000, seed: 1)
    static let extras = noise(300_000, seed: 2)
    /// Bytes of the longest piece once sealed: one codec byte and 512 KiB of noise, which is stored as it is.
    static let longestPiece = Int(Cobblestone256.sealedLength(ofMessage: 1 + (512 << 10)) ?? 0)

    private static let packs = Task {
        let world = try await World()
        try await world.publish(["noise": one])
        try await world.publish(["noise": extras], as: "extras")
        let image = try world.image()
        try await world.declare(["extras": "onDemand"])
        return (withoutPolicies: image, onDemand: try world.image())
    }

    /// With two packs: `levels/one` and `extras`, by default on demand.
    static func withPacks(_ policies: [String: String]? = nil) async throws -> World {
        let published = try await packs.value
        guard let policies else { return try World(published.onDemand) }
        let world = try World(published.withoutPolicies)
        try await world.declare(policies)
        return world
    }

    static func map(_ level: Int) -> [UInt8] { noise(200_000 + level, seed: level) }
    static let texture = noise(300_000, seed: 9)

    private static let levels = Task {
        let world = try await World()
        for level in 1...4 { try world.write(map(level), toTree: "levels/\(level)/map") }
        try world.write(texture, toTree: "textures/grass")
        try world.declareTree(
            (1...4).map { ("levels/\($0)", ["level\($0)"]) } + [("textures", ["level2", "level3"])],
            initial: ["level1"])
        try await world.publish()
        return try world.image()
    }

    /// With packs by tags: `level1` (essential) to `level4` with a map each, and a texture that levels 2 and 3 share.
    static func withLevels() async throws -> World { try World(try await levels.value) }
}
