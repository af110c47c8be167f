public import SealedPack
public import VaultBase
public import VaultSite

/// The result of a publication.
public struct PublicationReport: Sendable {
    public enum Change: String, Sendable {
        case added, updated, unchanged
        /// Only its slots changed; the pack's file stays.
        case rekeyed
        case moved
        case removed
    }

    public struct Pack: Sendable {
        /// As it is listed.
        public let id: PackID
        /// The name of an opaque ID.
        public internal(set) var name: PackID?
        public let version: UInt64
        public let change: Change
        /// In bytes.
        public let length: UInt64
        public let pieces: UInt32
        /// Pieces with the same bytes in the previous version.
        public let reusedPieces: UInt32
        /// Vault keys that opened the previous version, and for which no channel lists the pack any more.
        public internal(set) var droppedKeys: [SlotHolder]
        /// Whether an earlier version is listed instead of the source.
        public let isPinned: Bool
        /// The team that lists it from now on, of one that moved.
        public let team: String?
        /// The cost of the update for clients of its last versions, the newest first, if its content changed.
        public internal(set) var updates: [Update] = []
        /// The cost of a new pack for clients that have other listed packs with some of its pieces.
        public internal(set) var firstCost: UpdateCost?
        /// Whether its cost is unknown, since published packs are not on this machine.
        public internal(set) var isCostUnknown = false
        /// Whether its file is new: no earlier listing has it.
        public internal(set) var isNewFile = false
        /// Versions that stay listed beside it, for other versions of the app.
        public internal(set) var others: [Other] = []
    }

    /// A version that stays listed for some versions of the app.
    public struct Other: Sendable {
        public let version: UInt64
        public let apps: AppVersionRange
    }

    /// A version whose slots change in another channel than that of the sources; its file stays.
    public struct Rekeyed: Sendable {
        public let channel: Channel
        /// As it is listed.
        public let id: PackID
        /// The name of an opaque ID.
        public internal(set) var name: PackID?
        public let version: UInt64
        /// Vault keys that no longer open it.
        public let droppedKeys: [SlotHolder]
    }

    /// An earlier listing that is live in place of the sources.
    public struct Restoration: Sendable {
        public enum Subject: Sendable, Hashable {
            case tree(PackID)
            case channel(Channel)
        }

        public let subject: Subject
        /// Under which it was listed.
        public let snapshot: PublishedSnapshot
    }

    /// What a publication costs devices and the network, in bytes of sealed packs: without metadata. Of several kinds of devices each
    /// figure is the greatest.
    public struct Sizes: Sendable {
        /// What a new device downloads unasked: essential and prefetched packs. Packs of teams are not counted.
        public internal(set) var firstInstall: UInt64 = 0
        /// What a device downloads that has all packs that were published before, without those of teams; nil where that is unknown,
        /// since published packs are not on this machine or too many changed.
        public internal(set) var update: UInt64?
        /// Whether packs were published before; otherwise no device has any.
        public internal(set) var hasEarlier = false
        /// New files, also those of teams: the size of the next upload, if the last publication was uploaded.
        public internal(set) var upload: UInt64 = 0
    }

    /// What clients of an earlier version download.
    public struct Update: Sendable {
        public let version: UInt64
        public let cost: UpdateCost
    }

    /// The one that lists the packs, of several.
    public internal(set) var channel: Channel?
    public let packs: [Pack]
    public internal(set) var sizes = Sizes()
    public internal(set) var rekeyed: [Rekeyed] = []
    public internal(set) var restorations: [Restoration] = []
    /// The metadata files that were written.
    public let written: [String]
    /// Of a preview: those that would be written.
    public internal(set) var toWrite: [String] = []
    /// What 'plan' finds in the sources.
    public internal(set) var findings: [Finding] = []
    public let warnings: [Finding]
    /// Whether the vault is a team's, whose site another vault publishes.
    public internal(set) var isOfTeam = false
    /// Whether `vault.json` has a pin. Other machines that publish need this `vault.json`.
    public internal(set) var needsSettingsElsewhere = false
    /// How many packs have other content, and no cost, since there are too many of them.
    public internal(set) var uncountedUpdates = 0
}

extension PublicationReport {
    /// What a client of all packs that were listed before downloads, bytes by declared ID: of a new pack what no other has.
    public var downloads: [PackID: UInt64] {
        var sizes: [PackID: UInt64] = [:]
        for pack in packs {
            let size: UInt64
            switch pack.change {
            case .added: size = pack.firstCost?.bytes ?? pack.length
            case .moved: size = pack.length
            case .updated: size = pack.updates.first?.cost.bytes ?? 0
            case .rekeyed, .unchanged, .removed: size = 0
            }
            sizes[pack.name ?? pack.id] = size
        }
        return sizes
    }
}

extension PublicationReport {
    /// - Parameters:
    ///   - listed: the vault's own packs, with their offers, also where names are opaque.
    ///   - importedBytes: new packs of teams.
    mutating func addSizes(
        of listed: [PackManifest], hasEarlier: Bool, importedBytes: UInt64
    ) throws(VaultError) {
        let names = Dictionary(packs.map { ($0.id, $0.name ?? $0.id) }) { first, _ in first }
        let downloads = downloads
        var update: UInt64 = 0
        for device in DeviceTraits.combinations(in: listed.map(\.offer), atMost: ContentPlan.deviceLimit) {
            let choice = try VariantChoice(
                among: listed.map { VariantChoice.Candidate($0, rank: 0) }, for: device)
            let taken = listed.filter { choice.takes($0.id) }
            sizes.firstInstall = max(
                sizes.firstInstall, taken.filter { $0.offer.policy != .onDemand }.saturatingSum(\.length))
            update = max(update, taken.saturatingSum { names[$0.id].flatMap { downloads[$0] } ?? 0 })
        }
        let isKnown = uncountedUpdates == 0 && !packs.contains(where: \.isCostUnknown)
        sizes.hasEarlier = hasEarlier
        sizes.update = hasEarlier && isKnown ? update : nil
        sizes.upload = [packs.filter(\.isNewFile).saturatingSum(\.length), importedBytes].saturatingSum(
            \.self)
    }
}

extension PublicationReport.Pack {
    init(_ sealed: SealingResult, after previous: PackManifest?, keys: AuthorKeys, isPinned: Bool) {
        let pack = sealed.manifest
        self.init(
            id: pack.id, version: pack.version, change: Self.change(from: previous, to: pack),
            length: pack.length, pieces: pack.pieceCount,
            reusedPieces: sealed.reusedPieces + sealed.repeatedPieces,
            droppedKeys: keys.holders(of: previous?.slots ?? [], without: pack.slots), isPinned: isPinned,
            team: nil)
    }

    private static func change(from previous: PackManifest?, to pack: PackManifest)
        -> PublicationReport.Change
    {
        guard var previous else { return .added }
        guard previous != pack else { return .unchanged }
        (previous.slots, previous.offer.isHeld) = (pack.slots, pack.offer.isHeld)
        return previous == pack ? .rekeyed : .updated
    }

    /// A pack that the vault no longer lists.
    ///
    /// - Parameter team: the team that lists it from now on.
    init(of pack: PackManifest, _ change: PublicationReport.Change, team: String? = nil) {
        self.init(
            id: pack.id, version: pack.version, change: change, length: pack.length,
            pieces: pack.pieceCount, reusedPieces: 0, droppedKeys: [], isPinned: false, team: team)
    }
}
