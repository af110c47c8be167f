import Foundation
import StrictJSON
import Testing

extension TestSite {
    /// Runs `trust NAME` on the vault.
    func trust(
        _ name: String, _ arguments: String..., environment: [String: String?] = [:],
        through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await Command.run(
            ["trust", name, vault] + arguments, environment: environment, through: wrapper)
    }

    /// What `trust show` says of every role, by name.
    func roles() async throws -> [String: ShownRole] {
        let answer = try await trust("show", "--json").succeeded()
        let roles = try #require(try answer.json()["roles"]?.elements).map(ShownRole.init)
        return Dictionary(roles.map { ($0.role, $0) }) { $1 }
    }

    /// The name of a role's newest file in the site.
    func newestFile(of role: String) async throws -> String {
        if role == "timestamp" { return "timestamp.json" }
        let version = try #require(try await roles()[role]?.version)
        return "\(version).\(role).json"
    }

    /// The IDs of the keys that signed a role's newest file.
    func signers(of role: String) async throws -> Set<String> {
        let name = try await newestFile(of: role)
        return try signers(inFile: "vault/site/metadata/\(name)")
    }

    func signers(inFile name: String) throws -> Set<String> {
        let signatures = try #require(try folder.json(name)["signatures"]?.elements)
        return Set(signatures.compactMap { $0["keyid"]?.text })
    }

    /// Changes what `vault.json` says.
    func settings(_ change: (inout JSONObject) -> Void) throws {
        var settings: JSONObject = try folder.json("vault/vault.json")
        change(&settings)
        try folder.write("vault/vault.json", JSONValue.object(settings).pretty())
    }

    /// Takes a signing key out of the vault; returns where it is now.
    @discardableResult
    func takeAway(_ key: String) throws -> String {
        let place = try folder.makeFolder("safe") + "/\(key)"
        try FileManager.default.moveItem(atPath: folder["vault/keys/\(key)"], toPath: place)
        return place
    }

    func bringBack(_ key: String) throws {
        try FileManager.default.moveItem(
            atPath: folder["safe/\(key)"], toPath: folder["vault/keys/\(key)"])
    }

    /// Makes an Ed25519 key with openssl: `NAME.pem` and `NAME.pub.pem`.
    func makeKey(_ name: String) async throws -> (key: String, publicKey: String) {
        let (key, publicKey) = (folder["\(name).pem"], folder["\(name).pub.pem"])
        try await Tool.run("openssl", "genpkey", "-algorithm", "ed25519", "-out", key)
        try await Tool.run("openssl", "pkey", "-in", key, "-pubout", "-out", publicKey)
        try folder.setPermissions("\(name).pem", 0o600)
        return (key, publicKey)
    }

    /// The names of the site's metadata.
    func metadata() throws -> Set<String> { Set(try folder.names(in: "vault/site/metadata")) }

    /// What waits for signatures.
    func pending() throws -> [String] {
        try folder.exists("vault/pending") ? folder.names(in: "vault/pending") : []
    }
}

/// One role in the answer of `trust show --json`.
struct ShownRole {
    let role: String
    let version: Int64
    let expires: String
    let daysLeft: Int64
    let isDue: Bool
    let threshold: Int64
    let keys: Set<String>

    init(_ json: JSONValue) throws {
        role = try #require(json["role"]?.text)
        version = try #require(json["version"]?.number)
        expires = try #require(json["expires"]?.text)
        daysLeft = try #require(json["daysLeft"]?.number)
        isDue = json["isDue"] == .bool(true)
        threshold = try #require(json["threshold"]?.number)
        keys = Set(try #require(json["keys"]?.elements).compactMap { $0["id"]?.text })
    }
}
