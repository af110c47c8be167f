import Foundation
import Testing
import VaultBase

extension World {
    /// Runs `trust NAME` on the vault; the name is the first word.
    func trust(
        _ words: Words, environment: [String: String?] = [:], through wrapper: [String] = []
    ) async throws -> CommandResult {
        let list = words.list(variables)
        return try await run(
            "trust \(list[0]) $VAULT \(list.dropFirst())", environment: environment, through: wrapper)
    }

    /// Signs a file that waits for it, or merges signatures into it.
    @discardableResult
    func sign(_ file: String, with key: String) async throws -> CommandResult {
        try await run("trust sign \(file) --key \(key)").succeeded()
    }

    /// What `trust show` says of every role, by name.
    func roles() async throws -> [String: ShownRole] {
        let answer = try await trust("show --json").succeeded()
        let roles = try #require(try answer.json()["roles"]?.elements).map(ShownRole.init)
        return Dictionary(roles.map { ($0.role, $0) }) { $1 }
    }

    /// The name of a role's newest file in the site.
    func newestFile(of role: String) async throws -> String {
        if role == "timestamp" { return "timestamp.json" }
        let version = try #require(try await roles()[role]?.version)
        return "\(version).\(role).json"
    }

    /// The newest metadata of a role in the site.
    func newest(_ role: String) async throws -> JSONValue {
        try json("vault/site/metadata/\(await newestFile(of: role))")
    }

    /// The IDs of the keys that signed a role's newest file.
    func signers(of role: String) async throws -> Set<String> {
        let signatures = try #require(try await newest(role)["signatures"]?.elements)
        return Set(signatures.compactMap { $0["keyid"]?.text })
    }

    /// Takes a signing key out of the vault; returns where it is now.
    @discardableResult
    func takeAway(_ key: String) throws -> String {
        let place = try makeFolder("safe") + "/\(key)"
        try FileManager.default.moveItem(atPath: self["vault/keys/\(key)"], toPath: place)
        return place
    }

    /// Makes an Ed25519 key with openssl: `NAME.pem` and `NAME.pub.pem`.
    func makeKey(_ name: String) async throws -> (key: String, publicKey: String) {
        let (key, publicKey) = (self["\(name).pem"], self["\(name).pub.pem"])
        try await Tool.run("openssl", "genpkey", "-algorithm", "ed25519", "-out", key)
        try await Tool.run("openssl", "pkey", "-in", key, "-pubout", "-out", publicKey)
        try setPermissions("\(name).pem", 0o600)
        return (key, publicKey)
    }

    /// The names of the site's metadata.
    func metadata() throws -> Set<String> { Set(try names(in: "vault/site/metadata")) }

    /// What waits for signatures.
    func pending() throws -> [String] {
        try exists("vault/pending") ? names(in: "vault/pending") : []
    }

    /// Runs a command, which must fail like this and leave the vault as it was.
    func refuses(
        _ words: Words, _ code: Int32, naming part: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try Tree(vault)
        try await run(words).failed(code, naming: part, at: location)
        #expect(try Tree(vault) == before, sourceLocation: location)
    }

    /// Publishes once more, and expects that to change nothing.
    func expectNothingToPublish(
        _ hint: String = "", at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try Tree(site)
        try await publish()
        #expect(try Tree(site) == before, "\(hint)", sourceLocation: location)
    }
}

/// One role in the answer of `trust show --json`.
struct ShownRole {
    let role: String
    let version: Int64
    let threshold: Int64
    let keys: Set<String>

    init(_ json: JSONValue) throws {
        role = try #require(json["role"]?.text)
        version = try #require(json["version"]?.number)
        threshold = try #require(json["threshold"]?.number)
        keys = Set(try #require(json["keys"]?.elements).compactMap { $0["id"]?.text })
    }
}
