import SealedPack
import UpdateFramework
import VaultBase
import VaultSite

/// Gives packs the IDs and offers that a site lists: as declared, or keyed digests with what keyless clients need.
struct OpaqueNames {
    /// The table that was published last; nil if names are public.
    let table: NamesTable?
    /// All packs that got an ID.
    private(set) var names = PackNames()

    /// Makes the IDs of channels with opaque names; nil where none has them, or no given key opens a table of theirs.
    private let keyOfChannels: ContentKey?

    private var key: ContentKey? { table?.nameKey }

    /// - Parameter isOpaque: whether the listing is to have opaque names.
    init(
        _ isOpaque: Bool, after earlier: EarlierPacks, by publisher: PackPublisher
    ) async throws(VaultError) {
        table = isOpaque ? try await publisher.namesTable(after: earlier) : nil
        if let table {
            keyOfChannels = table.nameKey
        } else if try earlier.candidates(for: PackID(PackNames.packID)).isEmpty {
            keyOfChannels = nil
        } else {
            do throws(VaultError) {
                keyOfChannels = try await publisher.namesTable(after: earlier).nameKey
            } catch {
                guard error.category == .key else { throw error }
                keyOfChannels = nil
            }
        }
    }

    /// - Parameter family: of a pack of a resource tree; nil for others, and for a tree itself.
    func listedID(of id: PackID, family: PackID? = nil) throws(VaultError) -> PackID {
        if let key { try key.opaqueID(of: id, family: family) } else { id }
    }

    /// The IDs that channels may list a pack or a tree under: one may have readable names beside another one with opaque names.
    func listedIDs(of id: PackID) throws(VaultError) -> Set<PackID> {
        guard let keyOfChannels else { return [id] }
        return [id, try keyOfChannels.opaqueID(of: id, family: nil)]
    }

    /// The ID and the offer that are listed; the declared ones go into the table.
    ///
    /// - Parameter isForEveryDevice: see ``PackNames/listedOffer(of:family:isForEveryDevice:)``.
    mutating func listedForm(
        of id: PackID, _ offer: PackOffer, isForEveryDevice: Bool = true
    ) throws(VaultError) -> (PackID, PackOffer) {
        guard key != nil else { return (id, offer) }
        let listed = try listedID(of: id, family: offer.family)
        // The listing says whether it is held, so a release needs no other table.
        var named = offer
        named.isHeld = false
        names.add(PackNames.Entry(name: id, offer: named), listedAs: listed)
        let family = try offer.family.map { family throws(VaultError) in try listedID(of: family) }
        return (
            listed,
            PackNames.listedOffer(of: offer, family: family, isForEveryDevice: isForEveryDevice)
        )
    }
}

extension ContentKey {
    /// The listed ID of a pack, by the key that makes names: a digest for its resource tree, if there is one, and one for the pack. The
    /// lengths of names don't show.
    func opaqueID(of id: PackID, family: PackID?) throws(VaultError) -> PackID {
        let digest = "q\(opaqueName(of: id.description))"
        guard let family else { return try PackID(digest) }
        return try PackID("q\(opaqueName(of: family.description))/\(digest)")
    }
}

extension PackManifest {
    /// Whether it is a pack, or of a resource tree, with one of these IDs.
    func isMade(ofAnyOf ids: Set<PackID>) -> Bool {
        ids.contains(id) || offer.family.map(ids.contains) ?? false
    }
}

extension UnverifiedMetadata {
    /// Whether the vault's own targets show the name of any pack.
    var showsNames: Bool {
        get throws(VaultError) {
            guard document.role.listsOwnPacks else { return false }
            if case .object(let tags)? = document.signed[TagIndex.member], !tags.isEmpty { return true }
            let ids = try records.compactMap { PackID(targetPath: $0.path) }
            return try (ids + GivenVersions.recorded(in: document).keys).contains(
                where: GivenVersions.isReadable)
        }
    }
}

/// Opaque names are switched on or off in a channel: its clients have no pack by its new name.
enum NewNames {
    /// Nil if this does not change.
    ///
    /// - Parameter wereOpaque: nil where nothing is published yet.
    static func finding(from wereOpaque: Bool?, to areOpaque: Bool) -> Finding? {
        guard let wereOpaque, wereOpaque != areOpaque else { return nil }
        return .warning(
            "new-names",
            "opaque names are switched \(areOpaque ? "on" : "off"), so that all packs are listed by new names",
            at: "opaqueNames", remedy: "clients download them again")
    }

    /// Nil also for a listing without packs.
    static func finding(from present: OwnPacks, to next: OwnPacks) -> Finding? {
        guard !next.packs.isEmpty else { return nil }
        return finding(from: present.packs.isEmpty ? nil : present.hasOpaqueNames, to: next.hasOpaqueNames)
    }
}
