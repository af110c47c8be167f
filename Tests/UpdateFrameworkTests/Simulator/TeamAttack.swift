import Testing
import UpdateFramework
import VaultBase

/// An attack of a host, or of a thief of keys, on the second version of the team's metadata.
struct TeamAttack: Sendable, CustomTestStringConvertible {
    let name: String
    let saying: String
    var category = VaultError.Category.untrusted
    let prepare: @Sendable (inout Repository) throws -> Void
    var tamper: @Sendable (inout Repository) throws -> Void = { _ in }

    var testDescription: String { name }

    static let all: [TeamAttack] = [
        TeamAttack(name: "expired", saying: "expired at") { $0.expiries[.team] = Repository.now },
        TeamAttack(name: "unsigned", saying: "0 valid signatures of the team keys in the role targets") {
            $0.signers[.team] = []
        },
        TeamAttack(name: "another key", saying: "0 valid signatures") { $0.signers[.team] = [SigningKey()] },
        TeamAttack(name: "the delegator's key", saying: "0 valid signatures") {
            $0.signers[.team] = $0.keys[.targets]
        },
        TeamAttack(name: "the root's key", saying: "0 valid signatures") {
            $0.signers[.team] = $0.keys[.root]
        },
        TeamAttack(name: "below the threshold", saying: "1 valid signatures of the team keys") {
            $0.keys[.team]?.append(SigningKey())
            $0.thresholds[.team] = 2
            $0.signers[.team] = $0.keys[.team].map { [$0[0]] }
        },
        TeamAttack(name: "one key under two names", saying: "1 valid signatures of the team keys") {
            try oneKeyUnderTwoNames(&$0)
        },
        TeamAttack(name: "not in the snapshot", saying: "does not list it") {
            // A new snapshot, since one may not omit a role that it listed.
            $0.unlisted = [.team]
            $0.keys[.snapshot] = [SigningKey()]
            try $0.publish(.root)
        },
        TeamAttack(name: "signed as another type", saying: "is of type") {
            $0.amend[.team] = { $0["_type"] = "snapshot" }
        },
        tampering("other bytes of the same length", saying: "but the signed") {
            $0.files["2.team.json"]?[0] = 0x20
        },
        tampering("an older file", saying: "but the signed") {
            $0.files["2.team.json"] = $0.files["1.team.json"]
        },
        tampering(
            "an older file, without hashes", saying: "version is 1 where snapshot version 3 lists 2",
            isHashed: false
        ) { $0.files["2.team.json"] = $0.files["1.team.json"] },
        tampering("endless", saying: "it has more than") {
            $0.files["2.team.json"]?.append(contentsOf: [UInt8](repeating: 0x20, count: 10_000))
        },
        tampering("too short", saying: "bytes, but the signed length") {
            $0.files["2.team.json"]?.removeLast()
        },
        tampering("missing", saying: "the host does not have it", as: .unavailable) {
            $0.files["2.team.json"] = nil
        },
        TeamAttack(
            name: "hashes of unknown kinds alone", saying: "it has no hash of a supported algorithm",
            prepare: {
                $0.amend[.snapshot] = {
                    try $0.change("meta") {
                        $0["team.json"] = ["version": 2, "hashes": ["blake2b-256": "00"]]
                    }
                }
            }),
        tampering("signatures over other content", saying: "0 valid signatures", isHashed: false) {
            repository in
            var file = try repository.json("2.team.json")
            var signed = try file.object("signed", at: "test")
            signed["x-more"] = 1
            file["signed"] = .object(signed)
            repository.files["2.team.json"] = JSONValue.object(file).pretty()
        },
        tampering("no metadata", saying: "(byte 0)", isHashed: false) {
            $0.files["2.team.json"] = Array("<html>".utf8)
        },
    ]

    /// The host changes valid files; the snapshot lists only versions where it has no hashes.
    private static func tampering(
        _ name: String, saying: String, as category: VaultError.Category = .untrusted, isHashed: Bool = true,
        _ tamper: @escaping @Sendable (inout Repository) throws -> Void
    ) -> TeamAttack {
        TeamAttack(
            name: name, saying: saying, category: category,
            prepare: { if !isHashed { $0.amend[.snapshot] = { $0["meta"] = withoutHashes } } }, tamper: tamper
        )
    }

    private static let withoutHashes: JSONValue = [
        "targets.json": ["version": 3], "team.json": ["version": 2],
    ]

    private static func oneKeyUnderTwoNames(_ repository: inout Repository) throws {
        let key = try #require(repository.keys[.team]?.first)
        repository.amend[.targets] = {
            try $0.change("delegations") { delegations in
                try delegations.change("keys") { $0["alias"] = $0[key.id] }
                try delegations.changeRole {
                    $0["keyids"] = [.string(key.id), "alias"]
                    $0["threshold"] = 2
                }
            }
        }
        repository.aliases[.team] = ["alias"]
    }
}
