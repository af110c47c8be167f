public import SealedPack
public import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultCrypto
import VaultFileSystem

/// The content of `vault.json`. Writing it keeps all unchanged bytes.
public struct VaultSettings: Sendable {
    /// A pack that the vault publishes.
    public struct Pack: Sendable {
        public internal(set) var id: PackID
        public internal(set) var offer: PackOffer
        /// The earlier version that is listed instead of the source.
        public let pin: UInt64?
        let source: DeclaredSource

        /// All members but `source` may be absent.
        fileprivate init(id: PackID, parsing json: LocatedJSON, _ audiences: Audiences) throws(VaultError) {
            let json = json.labelled(id.description)
            try json.requireMembers(among: [
                "source", "for", "include", "exclude", "policy", "tags", "traits", "order", "compression",
                "followLinks", "first", "apps", "pin", "held",
            ])
            self.id = id
            source = try DeclaredSource(of: id, parsing: json, audiences)
            offer = PackOffer(
                tags: try PackOffer.tags(declaredIn: json), traits: try PackOffer.traits(declaredIn: json))
            offer.apps = try AppVersionRange(parsing: json["apps"])
            offer.order = try json["order"]?.integer() ?? 0
            offer.policy = try json.choice("policy") ?? offer.policy
            offer.isHeld = source.isHeld
            pin = try json["pin"].map { value throws(VaultError) in
                let number = try value.integer()
                guard number >= 1 else {
                    throw value.error(
                        .usage, "\(number) is not a version for \"pin\"", remedy: "use a number from 1 on")
                }
                return UInt64(number)
            }
        }
    }

    public private(set) var packs: [Pack]
    /// Sources that are divided into packs by tags and traits.
    public private(set) var resources: [ResourceTree]
    /// What the channel of the sources lists instead of them.
    public private(set) var pin: ListingPin?
    private(set) var audiences: Audiences
    private let folder: VaultFolder
    /// What the packs may measure; nil where no limits are declared.
    public let limits: SizeLimits?
    /// The versions of the app that clients may have; older versions of packs stay listed for these.
    let supportedApps: AppVersionRange
    /// Whether names, tags, traits and categories of packs are hidden (``PackNames``).
    let hasOpaqueNames: Bool
    public let lifetime: MetadataLifetime
    public let structure: SiteStructure
    private(set) var text: JSONSource

    /// The settings of a new vault.
    static func fresh(for team: MetadataRole?, packs: JSONObject) -> JSONObject {
        let lifetime = MetadataLifetime()
        var json: JSONObject = [
            "format": 1,
            "expiry": [
                "root": .integer(Int64(lifetime.root)), "targets": .integer(Int64(lifetime.targets)),
                "snapshot": .integer(Int64(lifetime.snapshot)),
                "timestamp": .integer(Int64(lifetime.timestamp)),
            ],
            "packs": .object(packs),
        ]
        json["team"] = team.map { .string($0.name) }
        return json
    }

    /// - Parameter passphrase: of encrypted key files of audiences.
    public init(reading path: FilePath, passphrase: PassphraseSource? = nil) throws(VaultError) {
        let place = path.string
        let bytes: [UInt8]
        do { bytes = try DurableFile.read(path, limit: 16 << 20) } catch {
            guard error.category == .missing else { throw error }
            let isLost = try FileSystem.exists(path.removingLastComponent().appending("keys"))
            throw VaultError(
                .missing, isLost ? "the vault has lost its settings" : "there is no vault here", at: place,
                remedy: isLost
                    ? "restore the file from your backup"
                    : "check the path, or make a vault", hint: isLost ? nil : .makingVault)
        }
        text = try JSONSource(parsing: bytes, name: place)
        let json = text.located
        let format = try json.required("format")
        guard try format.integer() == 1 else {
            throw format.error(
                .corrupt, "its format is unknown", remedy: "use a newer release of this program")
        }
        try Self.requireNoMisspelling(in: json)
        lifetime = try MetadataLifetime(parsing: try json["expiry"])
        structure = try SiteStructure(parsing: json)
        folder = VaultFolder(path.removingLastComponent(), passphrase: passphrase)
        audiences = try Audiences(parsing: json, in: folder)
        packs = try Self.packs(of: json, audiences)
        resources = try Self.resources(of: json, beside: packs, structure, audiences)
        pin = try ListingPin(parsing: json["pin"])
        hasOpaqueNames = try json["opaqueNames"]?.bool() ?? false
        supportedApps = try AppVersionRange(parsing: json["apps"])
        if hasOpaqueNames { try Self.requireNamesCanBeOpaque(json, structure, resources) }
        limits = try json["limits"].map { limits throws(VaultError) in try SizeLimits(parsing: limits) }
    }

    private static let members = [
        "format", "packs", "resources", "expiry", "teams", "team", "bins", "channels", "audiences", "limits",
        "opaqueNames", "apps", "pin", "replacedKeys",
    ]

    /// Members of other programs are ignored, but not one that was probably meant for this one: without `"opaqueNames"` names
    /// would be public.
    private static func requireNoMisspelling(in json: LocatedJSON) throws(VaultError) {
        for member in try json.members() where !members.contains(where: { $0.hasSameBytes(as: member.name) })
        {
            guard Suggestion.nearest(to: member.name, among: members) != nil else { continue }
            throw member.key.error(
                .usage, "the member \"\(member.name.excerpt)\" is unknown", remedy: "give it another name"
            ).suggesting(member.name, among: members)
        }
    }

    private static func requireNamesCanBeOpaque(
        _ json: LocatedJSON, _ structure: SiteStructure, _ resources: [ResourceTree]
    ) throws(VaultError) {
        let place = try json.required("opaqueNames")
        guard structure.ownRole == nil else {
            throw place.error(
                .usage, "a team's packs are found by their names", remedy: "remove \"opaqueNames\" here")
        }
        if let tree = resources.first(where: { $0.apps != .all }) {
            throw place.error(
                .usage,
                "\"apps\" of the resources '\(tree.family)' would need the names of packs that are no longer made",
                remedy: "remove one of the two")
        }
    }

    private static func resources(
        of json: LocatedJSON, beside packs: [Pack], _ structure: SiteStructure, _ audiences: Audiences
    ) throws(VaultError) -> [ResourceTree] {
        var families: [PackID] = []
        return try (json["resources"]?.members() ?? []).map { member throws(VaultError) in
            let family = try member.key.map { () throws(VaultError) in try PackID(member.name) }
            if let other = families.first(where: family.isMember) {
                throw member.key.error(
                    .usage, "the resources '\(family)' have IDs like those of '\(other)'",
                    remedy: "rename one of them")
            }
            families.append(family)
            if let team = structure.teams.first(where: { $0.mayList(packsOf: family) }) {
                throw member.key.error(
                    .usage, "the team '\(team.role)' may list packs of the resources '\(family)'",
                    remedy: "give the team paths outside of packs/\(family)/")
            }
            if let pack = packs.first(where: { $0.id.isMember(of: family) }) {
                throw member.key.error(
                    .usage, "the ID of the pack '\(pack.id)' begins like those of the resources '\(family)'",
                    remedy: "rename one of them")
            }
            return try ResourceTree(family: family, parsing: member.value, audiences)
        }
    }

    private static func packs(of json: LocatedJSON, _ audiences: Audiences) throws(VaultError) -> [Pack] {
        try (json["packs"]?.members() ?? []).map { member throws(VaultError) in
            let id = try member.key.labelled(String(member.name.prefix(64))).map {
                () throws(VaultError) in try PackID(member.name)
            }
            guard !id.isNamesTable, id != GivenVersions.anyName else {
                throw member.key.error(
                    .usage,
                    id.isNamesTable
                        ? "the ID '\(id)' is that of the table of opaque names"
                        : "the ID '\(id)' stands for hidden names", remedy: "give the pack another one")
            }
            return try Pack(id: id, parsing: member.value, audiences)
        }
    }

    /// Those of the packs, then those of the resource trees.
    var sources: [DeclaredSource] { packs.map(\.source) + resources.map(\.source) }

    /// What is published of sources alone.
    var withoutPinned: VaultSettings {
        var settings = self
        settings.packs = pin == nil ? packs.filter { $0.pin == nil } : []
        settings.resources = pin == nil ? resources.filter { $0.pin == nil } : []
        return settings
    }

    /// The audiences that packs are sealed for.
    private var usedAudiences: [String] { Set(sources.flatMap(\.audiences)).sorted() }

    /// Throws `.usage` where every pack is for an audience: no pack is sealed for the vault's own keys.
    ///
    /// - Parameter place: of the settings, for messages.
    func requireUseOfVaultKeys(at place: FilePath) throws(VaultError) {
        guard !usedAudiences.isEmpty, !hasOpaqueNames,
            !sources.contains(where: \.audiences.isEmpty)
        else { return }
        throw VaultError(
            .usage,
            "keys are given, but every pack is for an audience: \(usedAudiences.listed(upTo: 4))",
            at: place.string,
            remedy:
                "replace the audience's key, or publish without this option", hint: .replacingKey
        )
    }

    /// Lets audiences have the keys of key services.
    mutating func open(_ services: KeySpec.ServiceOpener?) { audiences.services = services }

    /// Takes edited text whose packs, resources, pins or audiences differ.
    mutating func adopt(_ edited: JSONSource) throws(VaultError) {
        let json = edited.located
        let services = audiences.services
        audiences = try Audiences(parsing: json, in: folder)
        open(services)
        packs = try Self.packs(of: json, audiences)
        resources = try Self.resources(of: json, beside: packs, structure, audiences)
        pin = try ListingPin(parsing: json["pin"])
        text = edited
    }

    public func write(to path: FilePath) throws(VaultError) {
        try DurableFile.write(text.bytes.span, to: path, permissions: 0o644, replacing: true)
    }
}
