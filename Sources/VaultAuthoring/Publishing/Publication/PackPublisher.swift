import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultSite

/// Writes packs to a site's targets, under names that no metadata lists yet.
struct PackPublisher {
    private let request: AuthorRequest
    let vault: VaultFolder
    let keys: AuthorKeys
    let files: PublishedPackFiles
    let retiredContentKeys: Set<ContentKeyID>

    /// - Parameter output: the folder for new packs; nil for the site's targets.
    init(for session: AuthorSession, sealingInto output: FilePath? = nil) async throws(VaultError) {
        (request, vault) = (session.request, session.vault)
        retiredContentKeys = session.retiredKeys.contentKeys
        keys = try await AuthorKeys(
            own: session.vaultKeys, audiences: session.settings.audiences, retired: session.retiredKeys)
        files = PublishedPackFiles(
            targets: vault.targets, output: output ?? vault.targets, host: session.host)
    }

    /// - Parameter declared: by the source.
    func compression(of declared: Compression?) -> Compression {
        request.compression ?? declared ?? .standard
    }

    /// A pack up to this size is sealed to compare it with the host's, which is cheaper than a request.
    private static let smallPack: UInt64 = 1 << 20

    /// Seals a pack's source, unless the site has the result already.
    func seal(
        _ pack: VaultSettings.Pack, after earlier: EarlierPacks, progress: (UInt64) -> Void
    ) async throws(VaultError) -> SealingResult {
        let previous = try files.firstAvailable(earlier.candidates(for: pack.id))
        // A pack that moves out of a resource tree gets a key of its own.
        let isContinued = previous.map { $0.offer.family == nil && pack.source.keepsKey(of: $0) } ?? false
        let choice = try await contentKey(
            following: isContinued ? previous : nil, for: pack.source.audiences)
        var order = SealingRequest(
            id: pack.id, versioning: .exactly(1), key: choice.key, slots: choice.slots, offer: pack.offer,
            compression: compression(of: pack.source.compression))
        order.first = try pack.source.first.files(in: vault)
        let source = try pack.source.open(in: vault, limit: request.unpackingLimit)
        guard pack.source.filter == .all || !source.folder.entries.isEmpty else {
            throw VaultError(
                .usage, "\"include\" and \"exclude\" of '\(pack.source.id)' leave nothing",
                at: vault.settings.string, remedy: "correct the patterns")
        }
        return try await seal(
            order, source.folder, after: previous, earlier.given, progress)
    }

    /// Seals the packs of a resource tree, with one content key, and passes the results to `deliver`.
    func seal(
        _ tree: ResourceTree, after earlier: EarlierPacks, naming names: inout OpaqueNames,
        onPack: (PackID, UInt64) -> Void,
        deliver: (SealingResult) async throws(VaultError) -> Void
    ) async throws(VaultError) {
        let source = try tree.source.open(in: vault, limit: request.unpackingLimit)
        let found = try tree.packs(of: source.folder)
        let named = try found.files(of: source.folder)
        let choice = try await contentKey(
            following: earlier.member(of: names.listedID(of: tree.family), where: tree.source.keepsKey),
            for: tree.source.audiences)
        var listed: [PackID: (id: PackID, offer: PackOffer)] = [:]
        let offers = found.packs.map { (id: $0.id, offer: tree.offer(of: $0.labels)) }
        let withoutTraits = try VariantChoice(
            among: offers.map { VariantChoice.Candidate(planned: $0.id, $0.offer) }, for: DeviceTraits())
        for (id, offer) in offers {
            listed[id] = try names.listedForm(of: id, offer, isForEveryDevice: withoutTraits.takes(id))
        }
        let first = try tree.source.first.files(in: vault)
        for pack in found.packs {
            guard let (id, offer) = listed[pack.id] else { continue }
            onPack(pack.id, 0)
            var order = SealingRequest(
                id: id, versioning: .exactly(1), key: choice.key, slots: choice.slots, offer: offer,
                compression: compression(of: tree.source.compression))
            order.first = first
            let result = try await seal(
                order, try named.part(pack.entries),
                after: try files.firstAvailable(earlier.candidates(for: id)),
                earlier.given
            ) { onPack(pack.id, $0) }
            try await deliver(result)
        }
    }

    func seal(
        _ request: SealingRequest, _ source: borrowing SourceFolder, after listed: PackManifest?,
        _ given: GivenVersions, _ progress: (UInt64) -> Void
    ) async throws(VaultError) -> SealingResult {
        var order = request
        // If the version has another content key, such as that of a resource tree, only its number counts.
        let previous = listed?.contentKeyID == order.key.id ? listed : nil
        order.versioning = .exactly(previous?.version ?? given.last(of: order.id) + 1)
        let folder = files.folder(of: order.id)
        guard let previous else {
            return try await files.name(
                UnnamedPack(sealing: order, source, in: folder, progress: progress))
        }
        // A number stands for one content and one range of the app's versions: old apps keep the version that is for them.
        let isSameRange = previous.offer.apps == order.offer.apps
        if isSameRange, previous.length <= Self.smallPack, try files.isOnlyHosted(previous) {
            let sealed = try await UnnamedPack(sealing: order, source, in: folder, progress: progress)
            if sealed.result.manifest.sha256 == previous.sha256 {
                return SealingResult(manifest: sealed.result.manifest, reusedPieces: previous.pieceCount)
            }
        }
        let (earlier, hosted) = try await files.published(previous, key: order.key)
        func versioning(above last: UInt64) -> PackVersioning {
            isSameRange ? .following(above: last) : .exactly(max(previous.version, last) + 1)
        }
        order.versioning = versioning(above: given.lastPublished(of: order.id))
        order.previous = earlier
        var sealed = try await UnnamedPack(sealing: order, source, in: folder, progress: progress)
        if let hosted, !sealed.result.missedPieces.isEmpty {
            try await hosted.fetch(sealed.result.missedPieces, of: earlier)
            sealed = try await UnnamedPack(sealing: order, source, in: folder, progress: progress)
        }
        // An unfinished publication may have given that number. It is given again only to the same bytes.
        let last = given.last(of: order.id)
        if sealed.result.manifest.version <= last, sealed.result.manifest.sha256 != previous.sha256,
            !given.isUnfinished(sealed.result.manifest)
        {
            order.versioning = versioning(above: last)
            sealed = try await UnnamedPack(sealing: order, source, in: folder, progress: progress)
        }
        // The previous version is present and verified.
        guard sealed.result.manifest.sha256 != previous.sha256 else { return sealed.result }
        if let hosted { files.host?.keep(hosted, as: previous) }
        return try files.name(sealed)
    }

    /// The content key of the earlier version, which any key here may open, for the keys of some audiences: without any name
    /// for the vault's own.
    private func contentKey(following previous: PackManifest?, for names: [String])
        async throws(VaultError) -> ContentKeyChoice
    {
        try await ContentKeyChoice(
            following: previous, keys: keys.openers, sealingFor: keys.recipients(names))
    }

    /// A version of a source that stays listed, for the keys that another pack with its content key is sealed for.
    ///
    /// - Parameter other: a pack with the same content key, whose slots show it; nil for the version itself.
    func keep(
        _ earlier: PackManifest, slots: [KeySlot]?, of source: DeclaredSource,
        opening other: PackManifest? = nil
    ) async throws(VaultError) -> PackManifest {
        var pack = earlier
        pack.slots =
            if let slots { slots } else {
                try await contentKey(following: other ?? earlier, for: source.audiences(of: earlier)).slots
            }
        pack.offer.isHeld = earlier.offer.isHeld && source.isHeld
        return pack
    }

    /// An earlier version, unchanged, for the present vault keys.
    ///
    /// - Parameter newest: the listed version; where it has the same content key, its slots are used.
    func restore(
        _ earlier: PackManifest, as declared: VaultSettings.Pack, newest: PackManifest?
    ) async throws(VaultError) -> SealingResult {
        let isSameKey = newest?.contentKeyID == earlier.contentKeyID
        let choice = try await contentKey(
            following: isSameKey ? newest : earlier, for: declared.source.audiences(of: earlier))
        _ = try await files.published(earlier, key: choice.key)
        var pack = earlier
        pack.slots = choice.slots
        pack.offer = declared.offer
        pack.offer.isHeld = earlier.offer.isHeld && declared.source.isHeld
        return SealingResult(manifest: pack, reusedPieces: pack.pieceCount)
    }
}
