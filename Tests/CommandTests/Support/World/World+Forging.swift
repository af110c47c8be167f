import Foundation
import Testing
import VaultBase

/// What a malicious publisher can sign with its keys.
extension World {
    /// Changes the signed part of the site's newest targets, adds roles to its snapshot, and signs all that names them anew.
    func forgeTargets(roles: [String] = [], _ change: (inout JSONObject) throws -> Void) async throws {
        let targets = try await forge("targets", change)
        let snapshot = try await forge("snapshot") {
            try $0.change("meta") { meta in
                meta["targets.json"] = ["version": .integer(targets)]
                for role in roles { meta["\(role).json"] = ["version": 1] }
            }
        }
        try await forgeTimestamp(of: snapshot)
    }

    /// Signs the site's newest metadata of these roles once more under a version, and what names them with it, as a thief of
    /// their keys can; the roles in this order: targets, snapshot, timestamp.
    ///
    /// - Parameter listed: what else the snapshot is to list, by the names of roles.
    func raise(_ roles: [String], to version: Int64, listing listed: [String: Int64] = [:]) async throws {
        var listed = listed
        if roles.contains("targets") {
            listed["targets"] = try await forge("targets", version: version) { _ in }
        }
        let snapshot = try await forge("snapshot", version: roles.contains("snapshot") ? version : nil) {
            try $0.change("meta") { meta in
                for (role, version) in listed { meta["\(role).json"] = ["version": .integer(version)] }
            }
        }
        try await forgeTimestamp(of: snapshot, version: roles.contains("timestamp") ? version : nil)
    }

    func forgeTimestamp(of snapshot: Int64, version: Int64? = nil) async throws {
        try await forge("timestamp", version: version) {
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
        var signed = try #require(try await newest(role)["signed"]?.members)
        let version = try version ?? #require(signed["version"]?.number) + 1
        signed["version"] = .integer(version)
        try change(&signed)
        let name = role == "timestamp" ? "timestamp.json" : "\(version).\(role).json"
        try await sign(signed, as: name, with: self["vault/keys/\(key ?? role).pem"])
        return version
    }

    /// Writes metadata of any content into the site, signed by one key.
    func sign(_ signed: JSONObject, as name: String, with key: String) async throws {
        let document: JSONObject = ["signatures": [], "signed": .object(signed)]
        let draft = "forged-\(UUID().uuidString)/\(name)"
        try write(draft, JSONValue.object(document).pretty())
        try await sign(self[draft], with: key)
        try write("vault/site/metadata/\(name)", bytes(draft))
    }

    /// Signatures don't cover the key ID that they stand under.
    func renameSigner(of name: String, to id: String) throws {
        try edit("vault/site/metadata/\(name)") { document in
            let signature = try #require(document["signatures"]?.elements?.first?["sig"])
            document["signatures"] = [["keyid": .string(id), "sig": signature]]
        }
    }

    /// The hosted packs that a key opens by any slot in any metadata of the site. A slot opens its content key, and so each pack that is
    /// sealed with it.
    func packsOpened(by key: String) async throws -> Set<String> {
        var slots: [String: [String: JSONValue]] = [:]
        var targets: [String: JSONValue] = [:]
        for name in try metadata() {
            let metadata: JSONObject = try json("vault/site/metadata/\(name)")
            for (path, target) in metadata["signed"]?["targets"]?.members ?? [:] {
                let digest = try #require(target["hashes", "sha256"]?.text)
                var parts = "targets/\(path)".split(separator: "/").map(String.init)
                parts[parts.count - 1] = "\(digest).\(parts[parts.count - 1])"
                targets[parts.joined(separator: "/")] = target
                let pack = try #require(target["custom", "assetvault"])
                for slot in pack["slots"]?.elements ?? [] {
                    slots[pack["contentKeyID"]?.text ?? "", default: [:]][slot["wrapped"]?.text ?? ""] = slot
                }
            }
        }
        var opened: Set<String> = []
        for (number, (path, target)) in targets.enumerated() where try exists("vault/site/\(path)") {
            var manifest = try #require(target.members)
            try manifest.change("custom", "assetvault") { pack in
                pack["slots"] = .array(Array((slots[pack["contentKeyID"]?.text ?? ""] ?? [:]).values))
            }
            let work = "leaked-\(UUID().uuidString)-\(number)"
            try write("\(work).json", JSONValue.object(manifest).compact())
            let result = try await run(
                "open $SITE/\(path) -o $WORK/\(work) --manifest $WORK/\(work).json --keys file:\(key)")
            try #require([0, 77].contains(result.exitCode), "\(result.errorText)")
            if result.exitCode == 0 { opened.insert(path) }
        }
        return opened
    }
}
