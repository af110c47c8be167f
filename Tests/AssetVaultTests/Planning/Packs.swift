import SealedPack
import VaultBase
import VaultCrypto
import VaultTransport

@testable import AssetVault

/// The manifest of a pack that nobody sealed: its digest follows from its ID and version.
func pack(
    _ id: String, version: Int64 = 2, _ policy: PackPolicy = .prefetch, bytes: UInt64 = 1_000,
    opened: UInt64 = 2_000, entries: Int64 = 0, tags: [String] = []
) throws -> PackManifest {
    let digest = SHA256.hash(Array("\(id) \(version)".utf8).span).hex
    func part(_ length: Int64) -> JSONValue {
        .object(["length": .integer(length), "sha256": .string(digest)])
    }
    let vault: JSONObject = [
        "format": 1, "id": .string(id), "version": .integer(version), "policy": .string(policy.rawValue),
        "tags": .array(tags.map(JSONValue.string)), "traits": [:], "openedSize": .integer(Int64(opened)),
        "contentKeyID": "AAAAAAAAAAAAAAAAAAAAAA", "pieces": 1, "entries": .integer(entries),
        "index": part(36),
        "catalog": part(1), "slots": [],
    ]
    let target: JSONObject = [
        "length": .integer(Int64(bytes)), "hashes": ["sha256": .string(digest)],
        "custom": ["assetvault": .object(vault)],
    ]
    return try PackManifest(parsing: target, place: "test")
}

func site(_ host: String = "cdn.example.com") throws -> SiteLocation {
    try SiteLocation("https://\(host)/game")
}

extension Plan {
    /// With one source, which is allowed, unless another one is given.
    init(
        _ stored: [StoredPack] = [], _ offered: [PackManifest], _ trigger: PlanTrigger,
        _ policy: PlanningPolicy = PlanningPolicy(), metadataBytes: UInt64 = 0
    ) throws {
        self.init(
            PlanInput(
                stored: stored, offered: offered, trigger: trigger, policy: policy, sources: [try site()],
                metadataBytes: metadataBytes))
    }

    /// The IDs of the downloads, in their order.
    var downloaded: [String] { downloads.map(\.pack.id.description) }
    var transferred: [String] { transfers.map(\.pack.id.description) }
    var refused: [String] { refusals.map(\.pack.id.description) }
    var keptNames: [String] { kept.map(\.description) }
}
