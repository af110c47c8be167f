public import VaultBase

/// Limits that the packs of a vault are compared with, in bytes opened; nil for none.
public struct SizeLimits: Sendable, Equatable {
    public var pack: UInt64?
    /// Of all packs with a tag.
    public var tag: UInt64?
    /// The same, as a recommendation.
    public var recommendedTag: UInt64?
    public var packCount: UInt64?
    /// Of the app with its essential packs.
    public var app: UInt64?
    /// Of an installation over a metered network, as a recommendation.
    public var meteredInstall: UInt64?
    /// Of essential packs.
    public var initial: UInt64?
    /// Of essential and prefetched packs.
    public var initialAndPrefetched: UInt64?
    /// Of the packs that are in use at a time; no tag may be larger.
    public var inUse: UInt64?
    /// Of all packs with all their variants.
    public var hosted: UInt64?

    public init() {}

    private static let megabyte: UInt64 = 1_000_000
    private static let gigabyte: UInt64 = 1_000_000_000

    /// The presets, by name: Apple's limits for on-demand resources of 2015 on iOS and on tvOS, those for packs from iOS 18 on, and none.
    public static let presets: [String: SizeLimits] = {
        var early = SizeLimits()
        (early.pack, early.tag, early.recommendedTag) = (512 * megabyte, 512 * megabyte, 64 * megabyte)
        (early.initial, early.initialAndPrefetched, early.inUse) = (2 * gigabyte, 2 * gigabyte, 2 * gigabyte)
        (early.hosted, early.packCount) = (20 * gigabyte, 1000)
        // An Apple TV has no metered network.
        var television = early
        television.app = 200 * megabyte
        (early.app, early.meteredInstall) = (2 * gigabyte, 100 * megabyte)
        var late = SizeLimits()
        (late.pack, late.packCount, late.hosted) = (8 * gigabyte, 1000, 70 * gigabyte)
        late.recommendedTag = 64 * megabyte
        return [
            "odr-2015": early, "odr-2015-tvos": television, "apple-2024": late, "none": SizeLimits(),
        ]
    }()

    /// The member `"limits"` of `vault.json`: the name of a preset, or an object of own limits.
    init(parsing json: LocatedJSON) throws(VaultError) {
        if case .string(let name) = json.value {
            self = try json.map { () throws(VaultError) in try SizeLimits(named: name) }
            return
        }
        let members: [(name: String, path: WritableKeyPath<SizeLimits, UInt64?>)] = [
            ("pack", \.pack), ("tag", \.tag), ("recommendedTag", \.recommendedTag),
            ("packCount", \.packCount), ("initial", \.initial), ("inUse", \.inUse), ("app", \.app),
            ("meteredInstall", \.meteredInstall),
            ("initialAndPrefetched", \.initialAndPrefetched), ("hosted", \.hosted),
        ]
        try json.requireMembers(among: members.map(\.name))
        for member in members {
            guard let value = try json[member.name] else { continue }
            let number = try value.integer()
            guard number >= 0 else {
                throw value.error(.usage, "\(number) is not a limit", remedy: "use 0 or more")
            }
            self[keyPath: member.path] = UInt64(number)
        }
    }

    /// A preset. Throws `.usage` for an unknown name.
    public init(named name: String) throws(VaultError) {
        let names = Self.presets.keys.sorted()
        guard let preset = Self.presets[name] else {
            throw VaultError(
                .usage, "there are no limits named '\(name)'", at: "limits",
                remedy: "use one of \(names.joined(separator: ", "))"
            ).suggesting(name, among: names)
        }
        self = preset
    }
}
