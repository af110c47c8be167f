import FaultServer
import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

/// An author's vault, the site that it publishes, and the store of one client, in a folder of their own.
struct World: Workplace {
    let folder: TemporaryFolder
    var path: FilePath { folder.path }
    var vault: String { self["vault"] }
    var site: String { self["vault/site"] }
    /// What the client pins.
    var root: String { self["vault/trusted-root.json"] }
    var store: String { self["store"] }
    var keys: [String] { ["--keys", "file:\(self["vault/keys/vault.jwks"])"] }
    /// Options for the client's store.
    func client(of store: String? = nil) -> [String] {
        ["--store", store ?? self.store, "--trust", root] + keys
    }

    var variables: [String: [String]] {
        [
            "WORK": [path.string], "VAULT": [vault], "SITE": [site], "STORE": ["--store", store],
            "TRUST": ["--trust", root], "KEYS": keys, "CLIENT": client(),
        ]
    }

    /// A fresh vault that has published packs of these names, each a folder. The store does not exist yet.
    ///
    /// - Parameter write: Writes the folders; by default each has one file, which holds the name.
    init(_ packs: String..., writing write: ((World) throws -> Void)? = nil) async throws {
        try await self.init(packs: packs, writing: write)
    }

    init(packs: [String], writing write: ((World) throws -> Void)? = nil) async throws {
        folder = try TemporaryFolder()
        try await run("init $VAULT").succeeded()
        if let write { try write(self) } else { for name in packs { try self.write("\(name)/file", name) } }
        if !packs.isEmpty { try await publish(packs: packs) }
    }

    /// A vault that has published the pack `level`, whose one file holds this text.
    init(level text: String) async throws {
        try await self.init("level") { try $0.write("level/file", text) }
    }

    /// A copy of the vault, with the source of `level`.
    func copyOfVault() async throws -> TemporaryFolder {
        let round = try TemporaryFolder()
        try await copy("vault", to: round["vault"])
        try await Tool.run("ln", "-s", self["level"], round["level"])
        return round
    }

    /// Publishes; without options what `vault.json` declares.
    @discardableResult
    func publish(_ options: Words = "", through wrapper: [String] = []) async throws -> CommandResult {
        try await run("publish $VAULT \(options)", through: wrapper).succeeded()
    }

    /// Declares folders as packs of their names, and publishes them.
    @discardableResult
    func publish(packs: [String]) async throws -> CommandResult {
        try await publish("\(packs.flatMap { ["--pack", "\($0)=\(self[$0])"] })")
    }

    /// Publishes a pack `level` whose one file holds this text.
    @discardableResult
    func publish(level text: String) async throws -> CommandResult {
        try write("level/file", text)
        return try await publish()
    }

    /// Fetches from `url`, by default straight from the site's folder, with the vault's keys.
    func fetch(
        _ options: Words = "", from url: String? = nil, into store: String? = nil, withKeys: Bool = true,
        through wrapper: [String] = [], dyingAt step: String? = nil
    ) async throws -> CommandResult {
        try await run(
            "fetch \(url ?? site) --store \(store ?? self.store) $TRUST \(options) \(withKeys ? keys : [])",
            through: wrapper, dyingAt: step)
    }

    /// Brings packs into shared storage, without keys.
    func download(
        _ request: String, _ options: Words = "", from url: String? = nil
    ) async throws -> CommandResult {
        try await run("downloader \(url ?? site) $STORE $TRUST --request \(request) \(options)")
    }

    /// A host of the site, or of a copy of it, and a gate at which it stops before it answers for packs whose paths have this part.
    func gatedHost(
        of site: String? = nil, for part: String = ".avpack"
    ) throws -> (host: FaultServer, gate: Gate) {
        let gate = Gate()
        let host = try FaultServer(site ?? self.site) { request in
            if request.isForPack, request.path.contains(part) { gate.pass() }
            return .file
        }
        return (host, gate)
    }

    /// What `status` says of every pack, by ID.
    func status(of store: String? = nil) async throws -> [String: PackStatus] {
        let answer = try await run("status --store \(store ?? self.store) --json").succeeded()
        let packs = try #require(try answer.json()["packs"]?.elements).map(PackStatus.init)
        return Dictionary(uniqueKeysWithValues: packs.map { ($0.id, $0) })
    }

    /// The IDs of the packs that are ready for use, sorted.
    func loaded(in store: String? = nil) async throws -> [String] {
        try await status(of: store).filter { $0.value.state == "loaded" }.keys.sorted()
    }

    /// The names of the packs of which the store has a version, where IDs hide them; without the table of these names.
    func loadedNames(in store: String? = nil) async throws -> Set<String> {
        Set(try await status(of: store).values.filter { $0.version != nil }.map(\.name))
            .subtracting(["assetvault.names"])
    }

    /// What `path` prints.
    func path(of id: String, in store: String? = nil) async throws -> String {
        let answer = try await run("path \(id) --store \(store ?? self.store)").succeeded()
        return answer.text.trimmingCharacters(in: .newlines)
    }

    /// The opened tree that a client uses.
    func tree(of id: String, in store: String? = nil) async throws -> Tree {
        try Tree(await path(of: id, in: store))
    }

    /// Expects the client to use the pack's folder as it is now.
    func expectLoaded(
        _ ids: String..., in store: String? = nil, at location: SourceLocation = #_sourceLocation
    ) async throws {
        for id in ids {
            let tree = try await tree(of: id, in: store)
            #expect(try tree == Tree(self[id]), "\(id)", sourceLocation: location)
        }
    }

    /// The names of the files in an area of the store, or below it.
    func files(in area: String, of store: String? = nil) throws -> [String] {
        try Tree("\(store ?? self.store)/\(area)").files
    }

    /// The bytes that partial downloads hold outside their holes. A file system may call a hole data once it was read.
    func partialBytes() throws -> Int {
        guard try exists("store/ephemeral") else { return 0 }
        let inFiles = try names(in: "store/ephemeral").reduce(0) {
            try $0 + dataCount(of: "store/ephemeral/\($1)")
        }
        // A downloader makes no permanent storage.
        guard try exists("store/permanent") else { return inFiles }
        let trees = try files(in: "permanent").filter { $0.contains(".arriving/") }
        return try trees.reduce(inFiles) { try $0 + dataCount(of: "store/permanent/\($1)") }
    }

    /// Where the pack's file that the site lists now is, in the site.
    func publishedPack(_ id: String) throws -> String {
        func next(_ role: String, after document: JSONValue) throws -> JSONValue {
            let version = try #require(document["signed", "meta", "\(role).json", "version"]?.number)
            return try json("vault/site/metadata/\(version).\(role).json")
        }
        let snapshot = try next("snapshot", after: json("vault/site/metadata/timestamp.json"))
        let targets = try next("targets", after: snapshot)["signed", "targets"]
        let digest = try #require(targets?["packs/\(id).avpack", "hashes", "sha256"]?.text)
        var path = FilePath("targets/packs/\(id).avpack")
        let name = try #require(path.lastComponent)
        path.removeLastComponent()
        return path.appending("\(digest).\(name)").string
    }

    /// The bytes of that file.
    func publishedBytes(of id: String) throws -> [UInt8] { try bytes("vault/site/\(publishedPack(id))") }

    /// Changes a record of a store, and what guards it.
    func editRecord(_ name: String, _ change: (inout JSONObject) throws -> Void) throws {
        var json: JSONObject = try json(name)
        try change(&json)
        json["checksum"] = nil
        json["checksum"] = .string(SHA256.hash(JSONValue.object(json).canonical().span).hex)
        try write(name, JSONValue.object(json).canonical())
    }

    /// Declares exactly these packs, with what else `vault.json` says of them. Each is of the folder that has its name, behind the last
    /// `/`.
    func declare(
        _ packs: [String: JSONObject], settings change: (inout JSONObject) -> Void = { _ in }
    ) throws {
        let declared = packs.map { id, members in
            var pack = members
            pack["source"] = .string(self[id.split(separator: "/").last.map(String.init) ?? id])
            return (id, JSONValue.object(pack))
        }
        try settings {
            $0["packs"] = .object(JSONObject(lastWins: declared))
            change(&$0)
        }
    }

    /// Changes what `vault.json` says.
    func settings(_ change: (inout JSONObject) throws -> Void) throws { try edit("vault/vault.json", change) }
}

/// One pack in the answer of `status --json`.
struct PackStatus: Equatable {
    let id: String
    /// The ID, where that hides no other name.
    let name: String
    let state: String
    let version: Int64?
    let waitingVersion: Int64?
    let form: String?
    let failure: String?

    init(_ json: JSONValue) throws {
        id = try #require(json["id"]?.text)
        name = json["name"]?.text ?? id
        state = try #require(json["state"]?.text)
        version = json["version"]?.number
        waitingVersion = json["waitingVersion"]?.number
        form = json["form"]?.text
        failure = json["failure"]?.text
    }
}
