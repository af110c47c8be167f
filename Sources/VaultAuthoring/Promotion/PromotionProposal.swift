import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// The next listing of a channel: what it lists now, and packs of another channel.
struct PromotionProposal {
    private let origin: [PackID: ListedPack]
    private let present: [PackID: ListedPack]
    /// Targets that are no packs; they stay listed.
    private let foreign: [TargetRecord]
    private var next: [PackID: ListedPack]
    private var chosen: Set<PackID> = []
    private let compatible: CompatibleVersions
    /// Set where all packs get other names.
    var newNames: Finding?
    var warnings: [Finding] { newNames.map { [$0] } ?? [] }

    init(from origin: OwnListing, to destination: OwnListing, keeping compatible: CompatibleVersions) {
        self.compatible = compatible
        self.origin = Dictionary(origin.packs.map { ($0.pack.id, $0) }) { first, _ in first }
        present = Dictionary(destination.packs.map { ($0.pack.id, $0) }) { first, _ in first }
        foreign = destination.foreign
        next = present
    }

    mutating func takeAll() throws(VaultError) {
        next = [:]
        for listed in origin.values { next[listed.pack.id] = try kept(beside: listed) }
        chosen = Set(origin.keys).union(present.keys)
    }

    /// A pack, with the versions of the channel for versions of the app that it is not for.
    private func kept(beside new: ListedPack) throws(VaultError) -> ListedPack {
        let versions = [new.pack] + new.otherVersions
        let kept = present[new.pack.id].map {
            compatible.kept(of: $0, notFor: versions.map(\.offer.apps), except: Set(versions.map(\.version)))
        }
        guard let kept, !kept.isEmpty else { return new }
        return try ListedPack(
            new.pack, otherVersions: (new.otherVersions + kept).sorted { $0.version > $1.version })
    }

    /// Takes a pack, or all packs of a resource tree: of those the channel lists exactly these then. Throws `.missing`.
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
    func requireLine(allowingOlder: Bool, in channel: Channel) throws(VaultError) {
        for id in chosen.sorted() {
            guard let listed = present[id], let taken = next[id] else { continue }
            try requireSameContent(of: taken, as: listed, in: channel)
            let (old, new) = (listed.pack, taken.pack)
            guard old.version <= new.version || allowingOlder else {
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
        let known = Dictionary(([old.pack] + old.otherVersions).map { ($0.version, $0.sha256) }) { first, _ in
            first
        }
        for pack in [new.pack] + new.otherVersions {
            guard let digest = known[pack.version], digest != pack.sha256 else { continue }
            throw VaultError(
                .untrusted,
                "the channel '\(channel)' lists other content as version \(pack.version): \(digest), not \(pack.sha256)",
                at: pack.id.description,
                remedy: "publish the source again for a higher version, and find out who signed the other")
        }
    }

    var records: [TargetRecord] { foreign + next.values.map(\.target) }

    /// What changes for the chosen packs, sorted by ID.
    var changes: [PromotionReport.Pack] {
        chosen.sorted().map { id in
            PromotionReport.Pack(
                id, from: present[id]?.pack, to: next[id]?.pack,
                isSame: present[id]?.target == next[id]?.target)
        }
    }
}
