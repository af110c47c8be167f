public import SealedPack
import StrictJSON
import VaultBytes
public import VaultErrors

/// Chooses the variants that fit a device.
///
/// The packs of a family with the same signer, tags and content key, and values for the same traits, are variants of each
/// other: a device gets one of them. Packs without traits, or of no family, are for every device.
public struct VariantChoice {
    /// A pack, and what tells its family from others that claim the same name.
    public struct Candidate {
        public let id: PackID
        public let offer: PackOffer
        /// See ``ListedPack/rank``: whoever signs other names replaces nothing of these.
        public let rank: Int
        /// Nil for packs that are not sealed yet.
        public let contentKeyID: ContentKeyID?

        public init(_ pack: PackManifest, rank: Int) {
            (id, offer, self.rank, contentKeyID) = (pack.id, pack.offer, rank, pack.contentKeyID)
        }

        /// A pack of the vault's own that is not sealed yet.
        public init(planned id: PackID, _ offer: PackOffer) {
            self.init(id, offer, rank: 0, contentKeyID: nil)
        }

        package init(_ id: PackID, _ offer: PackOffer, rank: Int, contentKeyID: ContentKeyID?) {
            (self.id, self.offer, self.rank, self.contentKeyID) = (id, offer, rank, contentKeyID)
        }
    }

    private let chosen: Set<PackID>
    /// The variants that were not chosen, and the one that serves in their place.
    public private(set) var replaced: [PackID: PackID] = [:]

    /// Throws `.cancelled`.
    public init(among packs: [Candidate], for device: DeviceTraits) throws(VaultError) {
        var chosen: Set<PackID> = []
        for variants in Dictionary(grouping: packs, by: Group.init).values {
            if Task.isCancelled { throw .cancelled("variants") }
            guard let best = Self.best(of: variants, for: device) else {
                chosen.formUnion(variants.map(\.id))
                continue
            }
            chosen.insert(best.id)
            for pack in variants where pack.id != best.id { replaced[pack.id] = best.id }
        }
        self.chosen = chosen
    }

    /// Whether the device gets the pack.
    public func takes(_ id: PackID) -> Bool { chosen.contains(id) }

    /// What the variants of one set of files have in common.
    private struct Group: Hashable {
        let family: PackID?
        let rank: Int
        let contentKeyID: ContentKeyID?
        /// Also those that are withheld: they tell the packs of one signer apart.
        let tags: Set<String>
        let traits: [String]

        init(_ pack: Candidate) {
            let offer = pack.offer
            family = offer.family
            (rank, contentKeyID) = (pack.rank, pack.contentKeyID)
            tags = Set(offer.tags).union(offer.withheldTags)
            traits = offer.traits.keys.sorted { $0.bytesPrecede($1) }
        }
    }

    /// Nil where all of them are for every device.
    private static func best(of variants: [Candidate], for device: DeviceTraits) -> Candidate? {
        var left = variants.sorted { $0.id < $1.id }
        guard !device.takesAllVariants, let offer = left.first?.offer, offer.family != nil,
            !offer.traits.isEmpty
        else { return nil }
        let traits = offer.traits.keys.map { (name: $0, matching: offer.matching[$0] ?? .word(fallback: [])) }
            .sorted { ($0.matching.rank, $0.name) < ($1.matching.rank, $1.name) }
        for trait in traits {
            let values = left.compactMap { $0.offer.traits[trait.name]?.traitText }
            guard let best = trait.matching.best(of: values, for: device[trait.name]) else { continue }
            left.removeAll { $0.offer.traits[trait.name]?.traitText != best }
        }
        return left.first
    }
}

extension TraitMatching {
    /// Where not every combination exists, the trait that matters more is chosen first: what a person reads, what a device can
    /// show at all, and then what it shows best.
    fileprivate var rank: Int {
        switch self {
        case .language: 0
        case .word: 1
        case .nearest: 2
        }
    }
}
