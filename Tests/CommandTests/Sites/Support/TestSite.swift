import Foundation
import StrictJSON
import SystemPackage
import Testing

/// An author's vault and one client's store, in a folder of their own.
struct TestSite: Sendable {
    let folder: TemporaryFolder

    var vault: String { folder["vault"] }
    var site: String { folder["vault/site"] }
    /// What the client pins.
    var root: String { folder["vault/trusted-root.json"] }
    var store: String { folder["store"] }
    var keys: [String] { ["--keys", "file:\(folder["vault/keys/vault.jwks"])"] }

    /// A fresh vault; the store does not exist yet.
    init() async throws {
        folder = try TemporaryFolder()
        try await Command.run("init", vault).succeeded()
    }

    /// A vault that published packs of one small file each.
    init(publishing names: [String]) async throws {
        try await self.init()
        for name in names { try folder.write("\(name)/file", name) }
        let packs = names.flatMap { ["--pack", "\($0)=\(folder[$0])"] }
        try await Command.run(["publish", vault] + packs).succeeded()
    }

    /// Publishes; without arguments what `vault.json` declares.
    @discardableResult
    func publish(_ arguments: String..., through wrapper: [String] = []) async throws -> CommandResult {
        try await Command.run(["publish", vault] + arguments, through: wrapper).succeeded()
    }

    /// Fetches from `url`, by default straight from the site's folder, with the vault's keys.
    func fetch(
        _ url: String? = nil, _ arguments: String..., into store: String? = nil, withKeys: Bool = true,
        through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await Command.run(
            ["fetch", url ?? site, "--store", store ?? self.store, "--trust", root] + arguments
                + (withKeys ? keys : []), through: wrapper)
    }

    /// What `status` says of every pack, by ID.
    func status(of store: String? = nil) async throws -> [String: PackStatus] {
        let answer = try await Command.run("status", "--store", store ?? self.store, "--json").succeeded()
        let packs = try #require(try answer.json()["packs"]?.elements).map(PackStatus.init)
        return Dictionary(uniqueKeysWithValues: packs.map { ($0.id, $0) })
    }

    /// What `path` prints.
    func path(of id: String, in store: String? = nil) async throws -> String {
        let answer = try await Command.run("path", id, "--store", store ?? self.store).succeeded()
        return answer.text.trimmingCharacters(in: .newlines)
    }

    /// The opened tree that a client uses.
    func tree(of id: String, in store: String? = nil) async throws -> Tree {
        try Tree(await path(of: id, in: store))
    }

    /// The names of the files in an area of the store, or below it.
    func files(in area: String, of store: String? = nil) throws -> [String] {
        try Tree("\(store ?? self.store)/\(area)").files
    }

    /// Where the pack's file that the site lists now is, in the site.
    func publishedPack(_ id: String) throws -> String {
        func next(_ role: String, after document: JSONValue) throws -> JSONValue {
            let version = try #require(document["signed", "meta", "\(role).json", "version"]?.number)
            return try folder.json("vault/site/metadata/\(version).\(role).json")
        }
        let snapshot = try next("snapshot", after: folder.json("vault/site/metadata/timestamp.json"))
        let targets = try next("targets", after: snapshot)["signed", "targets"]
        let digest = try #require(targets?["packs/\(id).avpack", "hashes", "sha256"]?.text)
        var path = FilePath("targets/packs/\(id).avpack")
        let name = try #require(path.lastComponent)
        path.removeLastComponent()
        return path.appending("\(digest).\(name)").string
    }
}

/// One pack in the answer of `status --json`.
struct PackStatus: Equatable {
    let id: String
    let state: String
    let version: Int64?
    let waitingVersion: Int64?
    let form: String?
    let failure: String?
    let isPurgeable: Bool

    init(_ json: JSONValue) throws {
        id = try #require(json["id"]?.text)
        state = try #require(json["state"]?.text)
        version = json["version"]?.number
        waitingVersion = json["waitingVersion"]?.number
        form = json["form"]?.text
        failure = json["failure"]?.text
        isPurgeable = json["purgeable"] == true
    }
}
