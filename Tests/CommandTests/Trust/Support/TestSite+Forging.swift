import Foundation
import StrictJSON
import Testing

/// What a malicious publisher can sign with its keys.
extension TestSite {
    /// Changes the signed part of the site's newest targets, adds roles to its snapshot, and signs all that names them anew.
    func forgeTargets(
        roles: [String] = [], _ change: (inout JSONObject) throws -> Void
    ) async throws {
        let targets = try await forge("targets", change)
        let snapshot = try await forge("snapshot") { signed in
            var meta = try #require(signed["meta"]?.members)
            meta["targets.json"] = ["version": .integer(targets)]
            for role in roles { meta["\(role).json"] = ["version": 1] }
            signed["meta"] = .object(meta)
        }
        _ = try await forge("timestamp") {
            $0["meta"] = ["snapshot.json": ["version": .integer(snapshot)]]
        }
    }

    /// Signs the site's newest metadata of these roles once more under a version, and what names them with it, as a thief of
    /// their keys can; the roles in this order: targets, snapshot, timestamp.
    ///
    /// - Parameter listed: what else the snapshot is to list, by the names of roles.
    func raise(_ roles: [String], to version: Int64, listing listed: [String: Int64] = [:]) async throws {
        var targets: Int64?
        if roles.contains("targets") { targets = try await forge("targets", version: version) { _ in } }
        let snapshot = try await forge("snapshot", version: roles.contains("snapshot") ? version : nil) {
            var meta = try #require($0["meta"]?.members)
            if let targets { meta["targets.json"] = ["version": .integer(targets)] }
            for (role, version) in listed { meta["\(role).json"] = ["version": .integer(version)] }
            $0["meta"] = .object(meta)
        }
        _ = try await forge("timestamp", version: roles.contains("timestamp") ? version : nil) {
            $0["meta"] = ["snapshot.json": ["version": .integer(snapshot)]]
        }
    }

    /// Signs other content of a role's newest metadata as its next version, by the key of that name or the role's own; returns
    /// the version.
    @discardableResult
    func forge(
        _ role: String, version: Int64? = nil, key: String? = nil,
        _ change: (inout JSONObject) throws -> Void
    ) async throws -> Int64 {
        let newest = try await newestFile(of: role)
        let old: JSONValue = try folder.json("vault/site/metadata/\(newest)")
        var signed = try #require(old["signed"]?.members)
        let version = try version ?? #require(signed["version"]?.number) + 1
        signed["version"] = .integer(version)
        try change(&signed)
        let name = role == "timestamp" ? "timestamp.json" : "\(version).\(role).json"
        try await sign(signed, as: name, with: folder["vault/keys/\(key ?? role).pem"])
        return version
    }

    /// Writes metadata of any content into the site, signed by one key.
    func sign(_ signed: JSONObject, as name: String, with key: String) async throws {
        let document: JSONObject = ["signatures": [], "signed": .object(signed)]
        let draft = "forged-\(UUID().uuidString)/\(name)"
        try folder.write(draft, JSONValue.object(document).pretty())
        try await Command.run("trust", "sign", folder[draft], "--key", key).succeeded()
        try folder.write("vault/site/metadata/\(name)", folder.bytes(draft))
    }

    /// Signatures don't cover the key ID that they stand under.
    func renameSigner(of name: String, to id: String) throws {
        var document: JSONObject = try folder.json("vault/site/metadata/\(name)")
        let signature = try #require(document["signatures"]?.elements?.first?["sig"])
        document["signatures"] = [["keyid": .string(id), "sig": signature]]
        try folder.write("vault/site/metadata/\(name)", JSONValue.object(document).pretty())
    }
}
