import SealedPack
import StrictJSON
import UpdateFramework
import VaultBytes
import VaultCrypto
import VaultErrors
import VaultSite

/// What `restore` puts live in the place of sources, of a resource tree or of a whole channel, until it is released: the member
/// `"pin"`, `{"snapshot": 7, "sha256": "…"}`.
public struct ListingPin: Sendable, Hashable {
    /// The version of the snapshot under which it was listed.
    public let snapshot: Int64
    /// Of the listed files. So the present listing shows by itself whether it is the pinned one, when the metadata of then are gone.
    let sha256: SHA256Digest

    init(_ listing: OwnListing, under snapshot: Int64) {
        (self.snapshot, sha256) = (snapshot, Self.digest(of: listing))
    }

    /// - Parameter json: nil where nothing is pinned.
    init?(parsing json: LocatedJSON?) throws(VaultError) {
        guard let json else { return nil }
        try json.requireMembers(among: ["snapshot", "sha256"])
        let (version, digest) = (try json.required("snapshot"), try json.required("sha256"))
        snapshot = try version.integer()
        guard snapshot >= 1, let sha256 = SHA256Digest(hex: try digest.string()) else {
            throw json.error(
                .usage, "it names no listing that was restored",
                remedy: "remove it, which lists the source again, or restore once more")
        }
        self.sha256 = sha256
    }

    var json: JSONValue {
        .object(["snapshot": .integer(snapshot), "sha256": .string(sha256.hex)])
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
