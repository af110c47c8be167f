import StrictJSON
public import SystemPackage
public import UpdateFramework
public import VaultErrors

/// How a vault's listing is divided among roles; members of `vault.json`.
public struct SiteStructure: Sendable {
    /// Another team that publishes some of the packs with keys of its own.
    public struct Team: Sendable {
        public let role: MetadataRole
        /// Patterns of target paths, such as `packs/dlc1/*`.
        public let paths: [String]
        /// Files with the team's public keys.
        public let keys: [FilePath]
        public let threshold: Int
        /// The site that the team publishes, a folder.
        public let site: FilePath
    }

    /// In the order of their names.
    public var teams: [Team] = []
    /// Into how many files the packs are divided by the hash of their path, as a power of two; 0 for one list.
    public var binBits = 0
    /// Set in a team's own vault: the role that it publishes for. It has no root of its own.
    public var ownRole: MetadataRole?

    init(parsing json: JSONObject, place: String) throws(VaultError) {
        for (name, value) in try json.optionalObject("teams", at: place) ?? [:] {
            teams.append(
                try Team(
                    try Self.role(name, place), parsing: try value.asObject(at: "\(place): \(name)"),
                    place: "\(place): team \(name)"))
        }
        if let count = try json.optionalInteger("bins", at: place) {
            guard (2...8_192).contains(count), count.nonzeroBitCount == 1 else {
                throw VaultError(
                    .usage, "\(count) bins can't be made", at: place, remedy: "use a power of two up to 8192"
                )
            }
            binBits = count.trailingZeroBitCount
        }
        if let name = try json.optionalString("team", at: place) { ownRole = try Self.role(name, place) }
        guard ownRole == nil || teams.isEmpty && binBits == 0 else {
            throw VaultError(
                .usage, "a team's vault has neither \"teams\" nor \"bins\"", at: place,
                remedy: "remove them, or the member \"team\"")
        }
    }

    /// A team's role. Its name means the same in a URL, on every disk and in every tool; throws `usage` for any other.
    public static func role(named name: String) throws(VaultError) -> MetadataRole {
        try role(name, "team")
    }

    private static func role(_ name: String, _ place: String) throws(VaultError) -> MetadataRole {
        let plain = name.utf8.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard plain, name.utf8.count <= 64, name != BinnedListing.name,
            !name.hasPrefix("\(BinnedListing.name)-"), let role = MetadataRole(delegated: name)
        else {
            throw VaultError(
                .usage, "'\(name)' can't be a team's name", at: place,
                remedy: "use up to 64 of a-z 0-9 _ -, no role's name and not '\(BinnedListing.name)'")
        }
        return role
    }
}

extension SiteStructure.Team {
    fileprivate init(_ role: MetadataRole, parsing json: JSONObject, place: String) throws(VaultError) {
        self.role = role
        let known = ["paths", "keys", "threshold", "site"]
        for key in json.keys where !known.contains(key) {
            throw VaultError(
                .usage, "the member \"\(key)\" is unknown", at: place,
                remedy: "use one of \(known.joined(separator: ", "))")
        }
        paths = try json.array("paths", at: place).map { value throws(VaultError) in
            try value.asString(at: place)
        }
        keys = try json.array("keys", at: place).map { value throws(VaultError) in
            FilePath(try value.asString(at: place))
        }
        threshold = Int(clamping: try json.optionalInteger("threshold", at: place) ?? 1)
        guard (1...max(keys.count, 1)).contains(threshold), !keys.isEmpty else {
            throw VaultError(
                .usage, "\(keys.count) keys could not meet a threshold of \(threshold)", at: place,
                remedy: "name as many keys of the team as must sign")
        }
        site = FilePath(try json.string("site", at: place))
    }
}
