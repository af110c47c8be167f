public import SealedPack
import SystemPackage
import UpdateFramework
public import VaultBase
public import VaultSite

/// Lists again what was listed before. Nothing is sealed; only metadata is signed and written.
///
/// Packs with a source stay restored until `restore --latest` lists the source again: `vault.json` keeps the pin. A channel that
/// gets its packs by promotion stays unchanged until the next promotion.
public struct Restoration: Sendable {
    public enum Subject: Sendable {
        /// A pack or a resource tree of `vault.json`.
        case declared(PackID)
        case channel(Channel)
    }

    public enum Goal: Sendable {
        /// Of a pack its own; of a resource tree, whose packs have versions of their own, the snapshot's.
        case version(UInt64)
        case moment(SiteMoment)
        /// The sources as they are now.
        case source
    }

    public enum Report: Sendable {
        case published(PublicationReport)
        /// Of a channel that gets its packs by promotion.
        case promoted(PromotionReport)
    }

    private let subject: Subject
    private let goal: Goal
    private let request: AuthorRequest

    public init(of subject: Subject, to goal: Goal, _ request: AuthorRequest) {
        (self.subject, self.goal, self.request) = (subject, goal, request)
    }

    /// - Throws: `missing` for what no kept metadata lists, or whose packs are gone; `untrusted` for what only keys have
    ///   signed which a later root removed, unless the request accepts them; `usage` for what can't be restored.
    public func run(in vault: VaultFolder) async throws(VaultError) -> Report {
        if let promotion = try promotion(in: vault) {
            return .promoted(try await promotion.run(in: vault))
        }
        return .published(try await vault.carryOut(request, restore))
    }

    private func restore(
        in session: AuthorSession, into output: ProposedChange.Output
    ) async throws(VaultError) -> PublicationReport {
        let edited = try await edited(session)
        var report = try await edited.publishSources(savingSettings: true, into: output)
        if output.scratch == nil {
            report.needsSettingsElsewhere =
                session.host != nil || edited.settings.text.bytes != session.settings.text.bytes
        }
        return report
    }

    /// Nil for packs with a source.
    private func promotion(in vault: VaultFolder) throws(VaultError) -> Promotion? {
        let structure = try VaultSettings(reading: vault.settings).structure
        guard case .channel(let channel) = subject, channel != structure.sourceChannel else { return nil }
        guard case .moment(let moment) = goal else {
            throw VaultError(
                .usage, "the channel '\(channel)' has no sources: it lists what is promoted to it",
                at: vault.settings.string, remedy: "promote packs to it, or restore an earlier state")
        }
        return Promotion(restoring: channel, to: moment, request)
    }

    /// With settings that list what is restored.
    private func edited(_ session: AuthorSession) async throws(VaultError) -> AuthorSession {
        var edited = session
        switch subject {
        case .channel: try edited.settings.pin(to: await pin(of: nil, in: session))
        case .declared(let id):
            if let tree = session.settings.resources.first(where: { $0.family == id }) {
                try edited.settings.pin(tree, to: await pin(of: tree, in: session))
            } else {
                try edited.settings.pin(id, to: await version(of: id, in: session))
            }
        }
        return edited
    }

    /// The version of a pack; nil for its source.
    private func version(of id: PackID, in session: AuthorSession) async throws(VaultError) -> UInt64? {
        let moment: SiteMoment
        switch goal {
        case .version(let version): return version
        case .source: return nil
        case .moment(let given): moment = given
        }
        let listed = try await session.opaqueNames().listedID(of: id)
        let (snapshot, listing) = try await EarlierStates(of: session).listing(
            of: session.settings.structure.sourceChannel, at: moment)
        guard let pack = listing.packs.first(where: { $0.pack.id == listed }) else {
            throw nothing(of: id, under: snapshot)
        }
        return pack.pack.version
    }

    /// The earlier listing of a resource tree, or of the whole first channel; nil for the sources.
    private func pin(
        of tree: ResourceTree?, in session: AuthorSession
    ) async throws(VaultError) -> ListingPin? {
        let moment: SiteMoment
        switch goal {
        case .source: return nil
        case .moment(let given): moment = given
        case .version(let version): moment = .snapshot(Int64(clamping: version))
        }
        if let tree, session.settings.hasOpaqueNames {
            let channel = session.settings.structure.sourceChannel
            throw VaultError(
                .usage, "with opaque names each channel has a table of all its packs", at: "\(tree.family)",
                remedy: "restore the whole channel '\(channel)'")
        }
        let (snapshot, whole) = try await EarlierStates(of: session).listing(
            of: session.settings.structure.sourceChannel, at: moment)
        let listing = tree.map { whole.packs(of: $0.family) } ?? whole
        if let tree, listing.packs.isEmpty { throw nothing(of: tree.family, under: snapshot) }
        return ListingPin(listing, under: snapshot)
    }

    private func nothing(of id: PackID, under snapshot: PublishedSnapshot) -> VaultError {
        VaultError(
            .missing, "snapshot version \(snapshot.version) lists nothing of '\(id)'", at: "restore",
            remedy: "choose another snapshot")
    }
}

extension AuthorSession {
    /// The listing that a pin names: the present one, or an earlier one.
    ///
    /// - Parameter family: of a resource tree; nil for the whole channel of the sources.
    func listing(
        _ pin: ListingPin, of family: PackID? = nil
    ) async throws(VaultError) -> OwnPacks {
        func part(_ listing: OwnPacks) -> OwnPacks {
            family.map { listing.packs(of: $0) } ?? listing
        }
        let present = part(sourceListing)
        if pin.isOf(present) { return present }
        let earlier = part(
            try await EarlierStates(of: self).listing(
                of: settings.structure.sourceChannel, at: .snapshot(pin.snapshot.version)
            ).listing)
        guard pin.isOf(earlier) else {
            throw VaultError(
                .corrupt,
                "the \"pin\"\(family.map { " of '\($0)'" } ?? "") is not what snapshot version"
                    + " \(pin.snapshot.version) lists",
                at: vault.settings.string, remedy: "restore again, or remove it, which lists the source")
        }
        try requireNothingHeldAgain(in: earlier)
        // Another table of names takes the place of that of then.
        for listing in earlier.packs where !listing.pack.isNamesTable {
            try retiredKeys.requireNone(in: listing)
        }
        return earlier
    }

    /// Throws `.usage` for a listing with held versions whose content key others may have since: it was released, or is listed no more.
    func requireNothingHeldAgain(in listing: OwnPacks) throws(VaultError) {
        let present = Dictionary(grouping: try listedVersions().map(\.pack), by: \.contentKeyID)
        for pack in listing.packs.flatMap(\.versions) where pack.offer.isHeld {
            let same = present[pack.contentKeyID] ?? []
            guard same.isEmpty || !same.allSatisfy(\.offer.isHeld) else { continue }
            throw VaultError(
                .usage, "version \(pack.version) was held then, and can't be held again",
                at: pack.id.description,
                remedy: "restore single packs, or a later state")
        }
    }
}
