import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto

/// What audits of one site remember: the file of ``AuditLedger``.
struct AuditState {
    /// A pack, or another file that the metadata list.
    struct Pack {
        enum Result: String {
            case sound
            /// Damaged, or missing from a folder.
            case failed
            /// Its host does not have it.
            case missing
            /// Its host failed.
            case unread
            /// Its bytes are sound, and no given key opens it.
            case locked
        }

        let digest: SHA256Digest
        let path: String
        let length: UInt64
        /// When it was listed at first.
        var seen: UTCTime
        /// When its bytes were last found to be sound; nil for never.
        var verified: UTCTime?
        /// When all of its files were last opened with keys, and found to be sound; nil for never.
        var keyed: UTCTime?
        /// When it was last found damaged, missing or unreadable; nil where it was last found to be sound.
        var failed: UTCTime?
        var result = Result.sound
        /// These are not in the file.
        var isTriedInThisRun = false
        var isVerifiedInThisRun = false

        /// In the order of the digests.
        func precedes(_ other: Pack) -> Bool {
            guard digest.prefix == other.digest.prefix else { return digest.prefix < other.digest.prefix }
            guard digest == other.digest else {
                return digest.bytes.lexicographicallyPrecedes(other.digest.bytes)
            }
            return path.bytesPrecede(other.path)
        }

        func isSameFile(as other: Pack) -> Bool {
            digest == other.digest && length == other.length && path.hasSameBytes(as: other.path)
        }
    }

    /// The bytes of one version of a role's file.
    struct Metadata: Equatable {
        let digest: SHA256Digest
        let length: Int

        init(digest: SHA256Digest, length: Int) { (self.digest, self.length) = (digest, length) }

        init(_ bytes: [UInt8]) { self.init(digest: SHA256.hash(bytes.span), length: bytes.count) }
    }

    /// The highest version of each role, by the name of its file.
    var versions: [String: Int64] = [:]
    /// By the name with the version; the timestamp has one here, too, such as `7.timestamp.json`.
    var metadata: [MetadataFileName: Metadata] = [:]
    /// The oldest first.
    var runs: [AuditHistory.Run] = []
    /// Sorted.
    var packs: [Pack] = []
}

// MARK: - The file

extension AuditState {
    static let format: Int64 = 1
    private static let runLimit = 100
    /// Of each role; also of the root.
    private static let versionLimit = 1024
    private static let remedy =
        "put a backup of it there, or remove it: then audits begin anew, and know of no earlier version"

    /// - Throws: `corrupt` for anything else than such a file.
    init(parsing bytes: [UInt8], place: String) throws(VaultError) {
        do throws(VaultError) {
            try self.init(reading: bytes, place: place)
        } catch {
            guard error.category == .corrupt, error.code == "corrupt" else { throw error }
            throw VaultError(
                .corrupt, "it is not the state of an audit, or damaged: \(error.problem)", at: place,
                remedy: Self.remedy, code: "damaged-state")
        }
    }

    private init(reading bytes: [UInt8], place: String) throws(VaultError) {
        var packs: [Pack] = []
        let object = try JSONValue(parsing: bytes.span, place: place, taking: "packs") {
            (value) throws(VaultError) in
            packs.append(try Pack(value.asObject(at: place), at: place))
        }.asObject(at: place)
        guard try object.integer("format", at: place) == Self.format else {
            throw VaultError(
                .corrupt, "it has another format than \(Self.format)", at: place,
                remedy: "use a newer release of this program, or another file", code: "newer-state")
        }
        for (name, version) in try object.object("versions", at: place) {
            guard case .integer(let version) = version, version >= 1 else {
                throw Self.invalid("versions", at: place)
            }
            versions[name] = version
        }
        for value in try object.array("metadata", at: place) {
            let file = try value.asObject(at: place)
            guard let name = MetadataFileName(hostedName: try file.string("name", at: place)),
                let digest = SHA256Digest(hex: try file.string("sha256", at: place)),
                let length = Int(exactly: try file.integer("length", at: place))
            else { throw Self.invalid("metadata", at: place) }
            metadata[name] = Metadata(digest: digest, length: length)
        }
        for value in try object.array("runs", at: place) {
            runs.append(try AuditHistory.Run(value.asObject(at: place), at: place))
        }
        packs.sort { $0.precedes($1) }
        self.packs = packs
    }

    fileprivate static func invalid(_ member: String, at place: String) -> VaultError {
        VaultError(.corrupt, "the member \"\(member)\" has an invalid value", at: place, remedy: remedy)
    }

    /// One line for each element. No value of the whole is made: there may be many packs.
    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
        func append(_ value: JSONValue) { bytes.append(contentsOf: value.compact().dropLast()) }
        func append(_ name: String, _ elements: some Sequence<JSONObject>) {
            append(",\n\"\(name)\":[")
            for (index, element) in elements.enumerated() {
                append(index == 0 ? "\n" : ",\n")
                append(.object(element))
            }
            append("]")
        }
        append("{\"format\":\(Self.format),\n\"versions\":")
        append(.object(JSONObject(lastWins: versions.map { ($0.key, .integer($0.value)) })))
        append("metadata", keptMetadata)
        append("runs", keptRuns.lazy.map(\.json))
        append("packs", packs.lazy.map(\.json))
        append("}\n")
        return bytes
    }

    var keptRuns: [AuditHistory.Run] { runs.suffix(Self.runLimit) }

    /// The newest versions of each role.
    private var keptMetadata: [JSONObject] {
        let roles = Dictionary(grouping: metadata.keys) { $0.unversionedName }
        return roles.sorted { $0.key.bytesPrecede($1.key) }.flatMap { _, files in
            files.sorted { $0.version < $1.version }.suffix(Self.versionLimit)
        }.compactMap { name in
            metadata[name].map { file in
                [
                    "name": .string(name.hostedName), "sha256": .string(file.digest.hex),
                    "length": .integer(Int64(file.length)),
                ]
            }
        }
    }
}

extension AuditState.Pack {
    fileprivate init(_ json: JSONObject, at place: String) throws(VaultError) {
        func time(_ member: String) throws(VaultError) -> UTCTime? {
            guard let text = try json.optionalString(member, at: place) else { return nil }
            guard let time = UTCTime(text) else { throw AuditState.invalid(member, at: place) }
            return time
        }
        guard let digest = SHA256Digest(hex: try json.string("sha256", at: place)),
            let length = UInt64(exactly: try json.integer("length", at: place)), let seen = try time("seen")
        else { throw AuditState.invalid("packs", at: place) }
        self.init(
            digest: digest, path: try json.string("path", at: place), length: length, seen: seen,
            verified: try time("verified"), keyed: try time("keyed"), failed: try time("failed"))
        if let text = try json.optionalString("result", at: place) {
            guard let result = Result(rawValue: text) else { throw AuditState.invalid("result", at: place) }
            self.result = result
        }
    }

    fileprivate var json: JSONObject {
        var json: JSONObject = [
            "sha256": .string(digest.hex), "path": .string(path), "length": .number(length),
            "seen": .string(seen.description),
        ]
        json["verified"] = verified.map { .string($0.description) }
        json["keyed"] = keyed.map { .string($0.description) }
        json["failed"] = failed.map { .string($0.description) }
        json["result"] = result == .sound ? nil : .string(result.rawValue)
        return json
    }
}

extension AuditHistory.Run {
    fileprivate init(_ json: JSONObject, at place: String) throws(VaultError) {
        func share(_ name: String) throws(VaultError) -> AuditCoverage.Share {
            guard let packs = Int(exactly: try json.integer("\(name)Packs", at: place)),
                let bytes = UInt64(exactly: try json.integer("\(name)Bytes", at: place))
            else { throw AuditState.invalid("runs", at: place) }
            return AuditCoverage.Share(packs: packs, bytes: bytes)
        }
        guard let time = UTCTime(try json.string("time", at: place)) else {
            throw AuditState.invalid("time", at: place)
        }
        self.init(
            time: time, seconds: try json.integer("seconds", at: place),
            version: try json.optionalInteger("version", at: place), listed: try share("listed"),
            verified: try share("verified"))
    }

    fileprivate var json: JSONObject {
        var json: JSONObject = [
            "time": .string(time.description), "seconds": .integer(seconds),
            "listedPacks": .integer(Int64(listed.packs)), "listedBytes": .number(listed.bytes),
            "verifiedPacks": .integer(Int64(verified.packs)), "verifiedBytes": .number(verified.bytes),
        ]
        json["version"] = version.map { .integer($0) }
        return json
    }
}

extension JSONValue {
    /// The largest integer where a sum is beyond what JSON has.
    fileprivate static func number(_ value: UInt64) -> JSONValue {
        .integer(min(Int64(clamping: value), integerRange.upperBound))
    }
}
