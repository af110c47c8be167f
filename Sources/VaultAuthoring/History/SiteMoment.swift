import StrictJSON
public import UpdateFramework
public import VaultErrors

/// Names a published state of a site: everything that stands under one snapshot.
public enum SiteMoment: Sendable, Hashable {
    /// By the version of the snapshot, as in the name `7.snapshot.json`.
    case snapshot(Int64)
    /// What was published last by this time.
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

/// When a snapshot was published: a signed member of it, `{"version": 7, "time": "2026-05-31T18:00:00Z"}`. Nothing else keeps
/// that: each timestamp replaces the one before. The specification allows further members (section 4.1); other clients ignore it.
struct PublicationTime {
    static let member = "x-published"

    let time: UTCTime

    static func json(ofSnapshot version: Int64, at time: UTCTime) -> JSONValue {
        .object(["version": .integer(version), "time": .string(time.description)])
    }

    /// Nil for a snapshot that does not say it. Publishers that don't know the member copy it from the snapshot before: only with the
    /// snapshot's own version it counts.
    init?(of snapshot: MetadataDocument) {
        guard case .object(let json)? = snapshot.signed[Self.member],
            json["version"] == .integer(snapshot.version), case .string(let text)? = json["time"],
            let time = UTCTime(text)
        else { return nil }
        self.time = time
    }
}
