import SealedPack
import StrictJSON
import UpdateFramework
import VaultBytes
import VaultCrypto
import VaultErrors
import VaultSite

/// What `restore` puts live in the place of sources, of a resource tree or of a whole channel, until it is released: the member
/// `"pin"`, `{"snapshot": 7, "published": "2026-05-31T18:00:00Z", "sha256": "…"}`.
public struct ListingPin: Sendable, Hashable {
    /// Under which it was listed.
    public let snapshot: PublishedSnapshot
    /// Of the listed files. So the present listing shows by itself whether it is the pinned one, when the metadata of then are gone.
    let sha256: SHA256Digest

    init(_ listing: OwnListing, under snapshot: PublishedSnapshot) {
        (self.snapshot, sha256) = (snapshot, Self.digest(of: listing))
    }

    /// - Parameter json: nil where nothing is pinned.
    init?(parsing json: LocatedJSON?) throws(VaultError) {
        guard let json else { return nil }
        try json.requireMembers(among: ["snapshot", "published", "sha256"])
        let (version, digest) = (try json.required("snapshot").integer(), try json.required("sha256"))
        let time = try json["published"]?.string()
        snapshot = PublishedSnapshot(version: version, time: time.flatMap { UTCTime($0) })
        guard version >= 1, (time == nil) == (snapshot.time == nil),
            let sha256 = SHA256Digest(hex: try digest.string())
        else {
            throw json.error(
                .usage, "it names no listing that was restored",
                remedy: "remove it, which lists the source again, or restore once more")
        }
        self.sha256 = sha256
    }

    var json: JSONValue {
        var json: JSONObject = ["snapshot": .integer(snapshot.version), "sha256": .string(sha256.hex)]
        json["published"] = snapshot.time.map { .string($0.description) }
        return .object(json)
    }

    func isOf(_ listing: OwnListing) -> Bool { Self.digest(of: listing) == sha256 }

    /// Over paths and the digests of files. Slots may change.
    private static func digest(of listing: OwnListing) -> SHA256Digest {
        let lines = listing.records.map { record in
            let files = record.eachVersion.map { $0.hashes.sha256?.hex ?? "" }
            return "\(record.path)\u{0}\(files.joined(separator: " "))\n"
        }
        return SHA256.hash(Array(lines.sorted { $0.bytesPrecede($1) }.joined().utf8).span)
    }
}
