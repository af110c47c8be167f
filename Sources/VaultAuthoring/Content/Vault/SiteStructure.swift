import SealedPack
public import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultSite

/// How a vault's listing is divided among roles; members of `vault.json`.
public struct SiteStructure: Sendable {
    /// A team that publishes some of the packs with its own keys.
    public struct Team: Sendable {
        public let role: MetadataRole
        /// Patterns of target paths, such as `packs/dlc1/*`.
        public let paths: [String]
        /// Patterns of the tags that its packs may have; others of theirs count for nothing.
        public let tags: [String]
        /// Files with the team's public keys.
        public let keys: [FilePath]
        public let threshold: Int
        /// The site that the team publishes, a folder.
        public let site: FilePath
    }

    /// In the order of their names.
    public var teams: [Team] = []
    /// The number of bins for packs, as an exponent of 2; 0 for one list.
    public var binBits = 0
    /// As declared: the first gets what is sealed, the others what is promoted to them. Empty for `Channel.live` alone, listed
    /// by the top-level targets or their bins.
    public var channels: [Channel] = []
    /// In a team's own vault, which has no root: the role that it publishes.
    public var ownRole: MetadataRole?

    init(parsing json: LocatedJSON) throws(VaultError) {
        for member in try json["teams"]?.members() ?? [] {
            let role = try member.key.map { () throws(VaultError) in try Self.role(named: member.name) }
            teams.append(try Team(role, parsing: member.value.labelled("team \(role)")))
        }
        if let bins = try json["bins"] {
            let count = try bins.integer()
            guard (2...8_192).contains(count), count.nonzeroBitCount == 1 else {
                throw bins.error(
                    .usage, "\(count) bins can't be made", remedy: "use a power of two from 2 to 8192")
            }
            binBits = count.trailingZeroBitCount
        }
        channels = try Self.channels(parsing: json["channels"])
        guard let team = try json["team"] else { return }
        let name = try team.string()
        ownRole = try team.map { () throws(VaultError) in try Self.role(named: name) }
        guard teams.isEmpty, binBits == 0, channels.isEmpty else {
            throw team.error(
                .usage, "a team's vault has no \"teams\", \"bins\" or \"channels\"",
                remedy: "remove them, or the member \"team\"")
        }
    }

    /// The channel whose packs are made from the sources.
    public var sourceChannel: Channel { channels.first ?? .live }

    /// All channels, that of the sources first: one where none is named.
    var listingChannels: [Channel] { channels.isEmpty ? [sourceChannel] : channels }

    private static func channels(parsing json: LocatedJSON?) throws(VaultError) -> [Channel] {
        guard let json else { return [] }
        var channels: [Channel] = []
        for element in try json.elements() {
            let name = try element.string()
            let channel = try element.map { () throws(VaultError) in try Channel(named: name) }
            guard !channels.contains(channel) else {
                throw element.error(
                    .usage, "the channel '\(channel)' is named twice", remedy: "name each channel once")
            }
            channels.append(channel)
        }
        guard channels.contains(.live) else {
            throw json.error(
                .usage, "the channel 'live' is missing, which clients follow unless they name another one",
                remedy: "add it in its place, such as [\"beta\", \"live\"]")
        }
        return channels
    }

    /// A team's role. Throws `usage` for a name that is unsafe in a URL or on a disk.
    public static func role(named name: String) throws(VaultError) -> MetadataRole {
        let plain = "abcdefghijklmnopqrstuvwxyz0123456789-_"
        guard name.utf8.allSatisfy(plain.utf8.contains), name.utf8.count <= 64,
            let role = MetadataRole(delegated: name), !OwnRoles.contains(role)
        else {
            throw VaultError(
                .usage, "'\(name)' can't be a team's name", at: "team",
                remedy:
                    "use 1 to 64 characters of a-z 0-9 _ -, but not root, timestamp, snapshot, targets or \(OwnRoles.live), and no name that begins with \(OwnRoles.live)-"
            )
        }
        return role
    }
}

extension SiteStructure.Team {
    /// Whether one of its patterns may match a pack of a resource tree: a team could then replace variants of it.
    func mayList(packsOf family: PackID) -> Bool {
        let folders = family.targetPath.dropLast(".avpack".count).split(separator: "/")
        return paths.contains { pattern in
            let segments = pattern.split(separator: "/")
            return segments.count > folders.count
                && zip(segments, folders).allSatisfy { $0 == $1 || $0.contains { "*?[".contains($0) } }
        }
    }

    fileprivate init(_ role: MetadataRole, parsing json: LocatedJSON) throws(VaultError) {
        self.role = role
        try json.requireMembers(among: ["paths", "tags", "keys", "threshold", "site"])
        paths = try json.required("paths").strings()
        tags = try PackOffer.tags(in: "tags", of: json)
        let keys = try json.required("keys")
        self.keys = try keys.strings().map { FilePath($0) }
        let needed = try json["threshold"]
        threshold = Int(clamping: try needed?.integer() ?? 1)
        guard !self.keys.isEmpty else {
            throw keys.error(.usage, "the team has no key", remedy: "name the files of its public keys")
        }
        guard (1...self.keys.count).contains(threshold) else {
            throw (needed ?? keys).error(
                .usage, "a threshold of \(threshold) is not from 1 to the number of keys, \(self.keys.count)",
                remedy: "state how many of the team's keys must sign")
        }
        site = FilePath(try json.required("site").string())
    }
}
