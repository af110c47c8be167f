public import UpdateFramework
public import VaultBase
import VaultCrypto
import VaultSite

/// Names a published state of a site: everything under one snapshot.
public enum SiteMoment: Sendable, Hashable {
    /// By the version of the snapshot, as in the name `7.snapshot.json`.
    case snapshot(Int64)
    /// The last state published by this time.
    case time(UTCTime)

    /// A snapshot's version, a day such as `2026-05-31`, which stands for its end, or a time such as `2026-05-31T18:00:00Z`; both
    /// are UTC. Throws `.usage`.
    public init(parsing text: String) throws(VaultError) {
        if let version = Int64(text), version >= 1, JSONValue.integerRange.contains(version) {
            self = .snapshot(version)
        } else if let time = UTCTime(text) ?? UTCTime("\(text)T23:59:59Z") {
            self = .time(time)
        } else {
            throw VaultError(
                .usage, "'\(text.excerpt)' names no state of the site", at: "restore",
                remedy:
                    "write a snapshot's version, such as 7 for 7.snapshot.json, or a day as YYYY-MM-DD, or a time as YYYY-MM-DDTHH:MM:SSZ"
            )
        }
    }
}

/// Names a published state of a site for people.
public struct PublishedSnapshot: Sendable, Hashable, CustomStringConvertible {
    public let version: Int64
    /// Nil where the snapshot does not say it.
    public let time: UTCTime?

    public var description: String {
        "snapshot version \(version)\(time.map { ", published at \($0)" } ?? "")"
    }
}

/// When a snapshot was published: a signed member of it, `{"version": 7, "time": "2026-05-31T18:00:00Z"}`. No other file keeps this
/// time: each timestamp replaces the one before. The specification allows further members (section 4.1); other clients ignore it.
struct PublicationTime {
    static let member = "x-published"

    let time: UTCTime

    static func json(ofSnapshot version: Int64, at time: UTCTime) -> JSONValue {
        .object(["version": .integer(version), "time": .string(time.description)])
    }

    /// Nil for a snapshot that does not say it. Publishers that don't know the member copy it from the snapshot before, so it
    /// counts only if it has the snapshot's own version.
    init?(of snapshot: MetadataDocument) {
        guard case .object(let json)? = snapshot.signed[Self.member],
            json["version"] == .integer(snapshot.version), case .string(let text)? = json["time"],
            let time = UTCTime(text)
        else { return nil }
        self.time = time
    }
}

/// When metadata were published at the latest: a snapshot that lists a file, or a later version of its role, says so.
struct PublicationTimes {
    /// By the name without the version, and by version.
    private var times: [String: [Int64: UTCTime]] = [:]

    init(in folder: MetadataFolder) throws(VaultError) {
        for file in try folder.versions() where file.role == .snapshot {
            guard let snapshot = try? folder.metadata(in: file)?.document,
                let time = PublicationTime(of: snapshot)?.time
            else { continue }
            for listed in [file] + snapshot.listedFiles {
                let known = times[listed.unversionedName]?[listed.version] ?? time
                times[listed.unversionedName, default: [:]][listed.version] = min(known, time)
            }
        }
    }

    /// Nil where no snapshot says it.
    subscript(file: MetadataFileName) -> UTCTime? {
        times[file.unversionedName]?.filter { $0.key >= file.version }.values.min()
    }

    /// By the snapshots that list this very version.
    subscript(exactly file: MetadataFileName) -> UTCTime? { times[file.unversionedName]?[file.version] }
}

/// The restored state that is listed in place of the sources, of a resource tree or of a whole channel, until the pin is removed:
/// the member `"pin"`, `{"snapshot": 7, "published": "2026-05-31T18:00:00Z", "sha256": "…"}`.
public struct ListingPin: Sendable, Hashable {
    /// Under which it was listed.
    public let snapshot: PublishedSnapshot
    /// Of the listed files. So it can be seen from the present listing alone whether it is the pinned one, even after the pinned
    /// metadata was removed.
    let sha256: SHA256Digest

    init(_ listing: OwnPacks, under snapshot: PublishedSnapshot) {
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

    func isOf(_ listing: OwnPacks) -> Bool { Self.digest(of: listing) == sha256 }

    /// Over paths and the digests of files. Slots may change.
    private static func digest(of listing: OwnPacks) -> SHA256Digest {
        let lines = listing.records.map { record in
            let files = record.eachVersion.map { $0.hashes.sha256?.hex ?? "" }
            return "\(record.path)\u{0}\(files.joined(separator: " "))\n"
        }
        return SHA256.hash(Array(lines.sorted { $0.bytesPrecede($1) }.joined().utf8).span)
    }
}
