public import SealedPack
import SystemPackage
import UpdateFramework
public import VaultBase
public import VaultSite

/// Lists packs of one channel in another one. Nothing is sealed: only metadata is signed and written.
public struct Promotion: Sendable {
    /// Which packs of the first channel.
    public enum Selection: Sendable {
        /// Afterwards the second channel lists exactly these.
        case all
        /// By IDs, of packs or of resource trees with all their packs.
        case only([PackID])
    }

    /// The listing that the packs are taken from.
    private enum Origin: Sendable {
        case channel(Channel)
        /// An earlier listing of the second channel.
        case earlier(SiteMoment)
    }

    private let selection: Selection
    private let origin: Origin
    private let destination: Channel
    private let request: AuthorRequest
    /// Whether a lower version of a pack is accepted.
    public var allowsOlder = false

    public init(
        _ selection: Selection, from origin: Channel, to destination: Channel, _ request: AuthorRequest
    ) {
        (self.selection, self.origin) = (selection, .channel(origin))
        (self.destination, self.request) = (destination, request)
    }

    /// Lists again what the channel listed before, sealed for the present audiences and vault keys.
    init(restoring channel: Channel, to moment: SiteMoment, _ request: AuthorRequest) {
        (selection, origin, destination, self.request) = (.all, .earlier(moment), channel, request)
        allowsOlder = true
    }

    /// - Throws: `usage` for channels that can't be used, and for a lower version; `missing` for a pack that the first
    ///   one does not list; `untrusted` for another pack of the same version.
    public func run(in vault: VaultFolder) async throws(VaultError) -> PromotionReport {
        try await vault.carryOut(
            request,
            preparing: { settings throws(VaultError) in try requireChannels(of: settings, in: vault) },
            promote)
    }

    private func requireChannels(of settings: VaultSettings, in vault: VaultFolder) throws(VaultError) {
        let structure = settings.structure
        var named = [destination]
        if case .channel(let origin) = origin { named.insert(origin, at: 0) }
        for channel in named where !structure.channels.contains(channel) {
            throw VaultError(
                .usage, "the vault has no channel '\(channel)'", at: vault.settings.string,
                remedy: structure.channels.isEmpty
                    ? "name its channels there, such as \"channels\": [\"beta\", \"live\"]"
                    : "choose among \(structure.channels.map(\.name).joined(separator: ", "))"
            ).suggesting(channel.name, among: structure.channels.map(\.name))
        }
        guard destination != structure.sourceChannel else {
            throw VaultError(
                .usage, "the channel '\(destination)' lists what the sources are", at: vault.settings.string,
                remedy: "publish, or restore an earlier version")
        }
        guard Set(named).count == named.count else {
            throw VaultError(
                .usage, "both channels are '\(destination)'", at: "promote", remedy: "name two channels")
        }
    }

    private func promote(
        in session: AuthorSession, into output: ProposedChange.Output
    ) async throws(VaultError) -> PromotionReport {
        guard let site = session.published.site, site.tree != nil else {
            throw session.vault.nothingPublished
        }
        let (offered, restored) = try await offered(by: site, in: session, output)
        let present = site.ownPacks(in: destination)
        let next = try nextListing(from: offered, to: present, in: session)
        let metadata = try await session.publish(
            ProposedChange(
                listing: [destination: next.records], deliveries: session.deliveries()), into: output)
        let newNames = NewNames.finding(from: present, to: offered).map { [$0] } ?? []
        return PromotionReport(
            channel: destination, packs: next.changes, restored: restored?.snapshot,
            written: metadata.written, toWrite: metadata.toWrite,
            warnings: newNames + (restored?.warnings ?? []) + session.warnings + metadata.warnings)
    }

    private func offered(
        by site: CurrentSite, in session: AuthorSession, _ output: ProposedChange.Output
    ) async throws(VaultError) -> (OwnPacks, RestoredState?) {
        switch origin {
        case .channel(let channel): return (site.ownPacks(in: channel), nil)
        case .earlier(let moment):
            let (snapshot, listed) = try await EarlierStates(of: session).listing(of: destination, at: moment)
            try session.requireNothingHeldAgain(in: listed)
            let restored = try await RestoredState(
                listed, under: snapshot, in: session, sealingInto: output.scratch)
            return (restored.listing, restored)
        }
    }

    private func nextListing(
        from offered: OwnPacks, to present: OwnPacks, in session: AuthorSession
    ) throws(VaultError) -> PromotedListing {
        if case .only = selection, offered.hasOpaqueNames || present.hasOpaqueNames {
            throw VaultError(
                .usage, "with opaque names each channel has a table of all its packs",
                at: session.vault.settings.string, remedy: "promote all packs together")
        }
        var next = PromotedListing(
            from: offered, to: present,
            keeping: CompatibleVersions(supported: session.settings.supportedApps))
        switch (selection, origin) {
        case (.only(let ids), .channel(let channel)): for id in ids { try next.take(id, from: channel) }
        default: try next.takeAll()
        }
        try next.requireContinuation(allowingOlder: allowsOlder, in: destination)
        return next
    }
}

/// The next listing of a channel: what it lists now, and packs of another channel.
private struct PromotedListing {
    private let origin: [PackID: ListedPack]
    private let present: [PackID: ListedPack]
    /// Targets that are not packs; they stay listed.
    private let otherTargets: [TargetRecord]
    private var next: [PackID: ListedPack]
    private var chosen: Set<PackID> = []
    private let compatible: CompatibleVersions

    init(from origin: OwnPacks, to destination: OwnPacks, keeping compatible: CompatibleVersions) {
        self.compatible = compatible
        self.origin = origin.packsByID
        present = destination.packsByID
        otherTargets = destination.otherTargets
        next = present
    }

    mutating func takeAll() throws(VaultError) {
        next = [:]
        for listed in origin.values { next[listed.pack.id] = try kept(beside: listed) }
        chosen = Set(origin.keys).union(present.keys)
    }

    /// A pack, with the versions of the channel for versions of the app that it is not for.
    private func kept(beside new: ListedPack) throws(VaultError) -> ListedPack {
        let kept = present[new.pack.id].map {
            compatible.kept(
                of: $0, notFor: new.versions.map(\.offer.apps), except: Set(new.versions.map(\.version)))
        }
        guard let kept, !kept.isEmpty else { return new }
        return try ListedPack(
            new.pack, otherVersions: (new.otherVersions + kept).sorted { $0.version > $1.version })
    }

    /// Takes a pack, or all packs of a resource tree: of a tree, the channel then lists exactly these packs. Throws `.missing`.
    mutating func take(_ id: PackID, from channel: Channel) throws(VaultError) {
        func isChosen(_ listed: ListedPack) -> Bool { listed.pack.id == id || listed.pack.offer.family == id }
        let taken = origin.values.filter(isChosen)
        guard !taken.isEmpty else {
            throw VaultError(
                .missing, "the channel '\(channel)' lists no pack '\(id)'", at: id.description,
                remedy: "publish it first, or choose one that is listed there"
            ).suggesting(id.description, among: origin.keys.map(\.description))
        }
        for listed in next.values where isChosen(listed) {
            next[listed.pack.id] = nil
            chosen.insert(listed.pack.id)
        }
        for listed in taken {
            next[listed.pack.id] = try kept(beside: listed)
            chosen.insert(listed.pack.id)
        }
    }

    /// Checks that each pack continues what clients of the channel have: `.usage` for a lower version, `.untrusted` for other
    /// content under the same one.
    func requireContinuation(allowingOlder: Bool, in channel: Channel) throws(VaultError) {
        for id in chosen.sorted() {
            guard let listed = present[id], let taken = next[id] else { continue }
            try requireSameContent(of: taken, as: listed, in: channel)
            let (old, new) = (listed.pack, taken.pack)
            // Each channel has a table of names of its own, whose numbers follow no order.
            guard old.version <= new.version || allowingOlder || id.isNamesTable else {
                throw VaultError(
                    .usage,
                    "the channel '\(channel)' lists version \(old.version), and version \(new.version) is older",
                    at: id.description, remedy: "promote a newer version", hint: .allowingOlder)
            }
        }
    }

    /// Versions for other versions of the app count, too.
    private func requireSameContent(
        of new: ListedPack, as old: ListedPack, in channel: Channel
    ) throws(VaultError) {
        let known = Dictionary(old.versions.map { ($0.version, $0.sha256) }) { first, _ in first }
        for pack in new.versions {
            guard let digest = known[pack.version], digest != pack.sha256 else { continue }
            throw VaultError(
                .untrusted,
                "the channel '\(channel)' lists other content as version \(pack.version): \(digest), not \(pack.sha256)",
                at: pack.id.description,
                remedy: "publish the source again for a higher version, and find out who signed the other")
        }
    }

    var records: [TargetRecord] { otherTargets + next.values.map(\.target) }

    /// What changes for the chosen packs, sorted by ID.
    var changes: [PromotionReport.Pack] {
        chosen.sorted().map { id in
            PromotionReport.Pack(
                id, from: present[id]?.pack, to: next[id]?.pack,
                isSame: present[id]?.target == next[id]?.target)
        }
    }
}

/// What a promotion changes in a channel, and the metadata that it wrote.
public struct PromotionReport: Sendable {
    public struct Pack: Sendable {
        public enum Change: String, Sendable {
            /// The channel did not list it before.
            case added
            case updated
            /// It gets a lower version.
            case older
            /// The same version, for other vault keys, or with other tags, traits or policy.
            case relabelled
            case removed
            case unchanged
        }

        public let id: PackID
        public let change: Change
        /// The version listed before the promotion; nil where none was.
        public let earlier: UInt64?
        /// The version that is to be listed; nil for a removed pack.
        public let version: UInt64?
    }

    /// The one that lists the packs.
    public let channel: Channel
    /// All chosen packs, and packs of a chosen tree that the destination no longer lists; sorted by ID.
    public let packs: [Pack]
    /// The names of a site with opaque names, as far as they are known.
    public var names = PackNames()
    /// The snapshot under which the channel listed the same before; nil for packs of another channel.
    public internal(set) var restored: PublishedSnapshot?
    /// The names of the files, below `metadata/`.
    public internal(set) var written: [String] = []
    /// Of a preview: those that would be written.
    public internal(set) var toWrite: [String] = []
    public internal(set) var warnings: [Finding] = []
}

extension PromotionReport.Pack {
    init(_ id: PackID, from earlier: PackManifest?, to manifest: PackManifest?, isSame: Bool) {
        self.id = id
        self.earlier = earlier?.version
        version = manifest?.version
        change =
            switch (earlier?.version, manifest?.version) {
            case (nil, _): .added
            case (_, nil): .removed
            case (let earlier?, let version?):
                earlier == version
                    ? (isSame ? .unchanged : .relabelled) : earlier < version ? .updated : .older
            }
    }
}
