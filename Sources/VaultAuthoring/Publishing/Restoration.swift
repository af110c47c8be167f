public import SealedPack
import StrictJSON
import SystemPackage
import UpdateFramework
public import VaultErrors
public import VaultSite

/// Puts live again what was listed before. Nothing is sealed, and metadata only are signed and written.
///
/// What comes from sources stays restored until its source is put live again: `vault.json` says so. A channel that gets its packs by
/// promotion stays as it is until the next one.
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

    public let subject: Subject
    public let goal: Goal
    private let order: PublicationRequest

    public init(of subject: Subject, to goal: Goal, _ order: PublicationRequest) {
        (self.subject, self.goal, self.order) = (subject, goal, order)
    }

    /// - Parameter isPreview: report what would be done, and change nothing.
    /// - Throws: `missing` for what no kept metadata lists, or whose packs are gone; `untrusted` for what only keys have
    ///   signed which a later root removed, unless the order accepts them; `usage` for what can't be restored.
    public func run(in vault: VaultFolder, isPreview: Bool = false) async throws(VaultError) -> Report {
        let structure = try VaultSettings(reading: vault.settings).structure
        if case .channel(let channel) = subject, channel != structure.sourceChannel {
            guard case .moment(let moment) = goal else {
                throw VaultError(
                    .usage, "the channel '\(channel)' has no sources: it lists what is promoted to it",
                    at: vault.settings.string, remedy: "promote packs to it, or restore an earlier state")
            }
            var promotion = Promotion(restoring: channel, to: moment, now: order.now)
            promotion.passphrase = order.passphrase
            promotion.host = order.host
            promotion.keys = order.keys
            promotion.acceptsRemovedKeys = order.acceptsRemovedKeys
            return .promoted(try await isPreview ? promotion.preview(in: vault) : promotion.run(in: vault))
        }
        return try await vault.withPublisherLock { settings async throws(VaultError) in
            var session = try await Publication.session(of: vault, settings, order)
            try await edit(&session)
            let publication = try await Publication(order, session)
            if isPreview { return .published(try await publication.preview { _, _ in }) }
            var report = try await publication.run(savingSettings: true) { _, _ in }
            report.needsSettingsElsewhere =
                session.host != nil || session.settings.text.bytes != settings.text.bytes
            return .published(report)
        }
    }

    /// Changes the settings.
    private func edit(_ session: inout AuthorSession) async throws(VaultError) {
        let settings = session.settings
        switch subject {
        case .channel: try session.settings.pin(to: await pin(of: nil, in: session))
        case .declared(let id):
            if let tree = settings.resources.first(where: { $0.family == id }) {
                try session.settings.pin(tree, to: await pin(of: tree, in: session))
            } else {
                try session.settings.pin(id, to: await version(of: id, in: session))
            }
        }
    }

    /// The version of a pack; nil for its source.
    private func version(of id: PackID, in session: AuthorSession) async throws(VaultError) -> UInt64? {
        let moment: SiteMoment
        switch goal {
        case .version(let version): return version
        case .source: return nil
        case .moment(let given): moment = given
        }
        let publisher = try await Publication(order, session).publisher(sealingInto: session.vault.targets)
        let earlier = try await EarlierPacks(of: session, by: publisher)
        let names = try await QuietNames(
            session.settings.hasQuietNames, after: earlier, by: publisher)
        let listed = try names.listedID(of: id, family: nil)
        let (snapshot, listing) = try await states(of: session).listing(
            of: session.settings.structure.sourceChannel, at: moment)
        guard let pack = listing.packs.first(where: { $0.pack.id == listed }) else {
            throw nothing(of: id, under: snapshot)
        }
        return pack.pack.version
    }

    /// What a resource tree listed, or the whole channel of the sources; nil for the sources.
    private func pin(
        of tree: ResourceTree?, in session: AuthorSession
    ) async throws(VaultError) -> ListingPin? {
        let moment: SiteMoment
        switch goal {
        case .source: return nil
        case .moment(let given): moment = given
        case .version(let version): moment = .snapshot(Int64(clamping: version))
        }
        if let tree, session.settings.hasQuietNames {
            let channel = session.settings.structure.sourceChannel
            throw VaultError(
                .usage, "with quiet names each channel has a table of all its packs", at: "\(tree.family)",
                remedy: "restore the whole channel '\(channel)'")
        }
        let (snapshot, whole) = try await states(of: session).listing(
            of: session.settings.structure.sourceChannel, at: moment)
        let listing = tree.map { whole.packs(of: $0.family) } ?? whole
        if let tree, listing.packs.isEmpty { throw nothing(of: tree.family, under: snapshot) }
        return ListingPin(listing, under: snapshot)
    }

    private func states(of session: AuthorSession) async throws(VaultError) -> EarlierStates {
        try await EarlierStates(of: session, acceptingRemovedKeys: order.acceptsRemovedKeys)
    }

    private func nothing(of id: PackID, under snapshot: PublishedSnapshot) -> VaultError {
        VaultError(
            .missing, "snapshot version \(snapshot.version) lists nothing of '\(id)'", at: "restore",
            remedy: "choose another snapshot")
    }
}

extension OwnListing {
    /// The packs of a resource tree alone.
    func packs(of family: PackID) -> OwnListing {
        OwnListing(of: packs.filter { $0.pack.offer.family == family }.map(\.target))
    }
}

extension AuthorSession {
    /// What a pin puts live: the present listing, or that of then.
    ///
    /// - Parameter family: of a resource tree; nil for the whole channel of the sources.
    func listing(
        _ pin: ListingPin, of family: PackID? = nil, acceptingRemovedKeys acceptsRemovedKeys: Bool
    ) async throws(VaultError) -> OwnListing {
        func part(_ listing: OwnListing) -> OwnListing {
            family.map { listing.packs(of: $0) } ?? listing
        }
        let present = part(sourceListing)
        if pin.isOf(present) { return present }
        let states = try await EarlierStates(of: self, acceptingRemovedKeys: acceptsRemovedKeys)
        let earlier = part(
            try await states.listing(
                of: settings.structure.sourceChannel, at: .snapshot(pin.snapshot.version)
            ).listing)
        guard pin.isOf(earlier) else {
            throw VaultError(
                .corrupt,
                "the \"pin\"\(family.map { " of '\($0)'" } ?? "") is not what snapshot version"
                    + " \(pin.snapshot.version) lists",
                at: vault.settings.string, remedy: "restore again, or remove it, which lists the source")
        }
        return earlier
    }
}

/// For whom the sources of a vault are sealed, by what is listed.
struct DeclaredRecipients {
    private var audiences: [PackID: [String]] = [:]

    init(of settings: VaultSettings, named names: QuietNames) throws(VaultError) {
        for pack in settings.packs {
            audiences[try names.listedID(of: pack.id, family: nil)] = pack.audiences
        }
        for tree in settings.resources { audiences[try names.listedFamily(tree.family)] = tree.audiences }
    }

    /// Nil for a pack that no source declares.
    subscript(pack: PackManifest) -> [String]? {
        pack.offer.family.flatMap { audiences[$0] } ?? audiences[pack.id]
    }
}
