public import SealedPack
public import VaultBase

/// Chooses the packs that are for a device: those whose conditions it meets. A pack without conditions is for every device.
///
/// Packs that were sealed by earlier releases of AssetVault have no conditions. Those of a family with the same signer, tags and content key, and values for the
/// same traits, are variants of each other: a device gets one of them.
public struct VariantChoice {
    /// A pack, and what distinguishes its family from others that claim the same name.
    public struct Candidate {
        public let id: PackID
        public let offer: PackOffer
        /// See ``ListedPack/rank``: packs of one signer never replace another signer's.
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
    /// The packs that the device does not get, and those that serve in their place.
    public private(set) var replaced: [PackID: [PackID]] = [:]

    /// Throws `.cancelled`.
    public init(among packs: [Candidate], for device: DeviceTraits) throws(VaultError) {
        guard !device.takesAllVariants else {
            chosen = Set(packs.map(\.id))
            return
        }
        var chosen: Set<PackID> = []
        var conditions = MetConditions(of: device)
        for variants in Dictionary(grouping: packs, by: Group.init).values {
            var taken: [PackID] = []
            for pack in variants {
                if Task.isCancelled { throw .cancelled("variants") }
                if conditions.areMet(of: pack.offer) { taken.append(pack.id) }
            }
            if let best = Self.best(of: variants, for: device) { taken = [best.id] }
            chosen.formUnion(taken)
            for pack in variants where !chosen.contains(pack.id) { replaced[pack.id] = taken }
        }
        self.chosen = chosen
    }

    /// Whether the device gets the pack.
    public func takes(_ id: PackID) -> Bool { chosen.contains(id) }

    /// What packs have in common that can replace each other.
    private struct Group: Hashable {
        let hasConditions: Bool
        let family: PackID?
        let rank: Int
        let contentKeyID: ContentKeyID?
        /// Withheld tags, too: they distinguish the packs of one signer.
        let tags: Set<String>
        /// Empty where conditions decide.
        let traits: [String]

        init(_ pack: Candidate) {
            let offer = pack.offer
            hasConditions = !offer.devices.isEmpty
            family = offer.family
            (rank, contentKeyID) = (pack.rank, pack.contentKeyID)
            tags = Set(offer.tags).union(offer.withheldTags)
            traits = hasConditions ? [] : offer.traits.keys.sorted { $0.bytesPrecede($1) }
        }
    }

    /// Of packs without conditions; nil where all of them are for every device.
    private static func best(of variants: [Candidate], for device: DeviceTraits) -> Candidate? {
        var left = variants.sorted { $0.id < $1.id }
        guard let offer = left.first?.offer, offer.devices.isEmpty, offer.family != nil,
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

/// Which conditions a device meets. Many packs have the same ones.
private struct MetConditions {
    private struct Condition: Hashable {
        let trait: String
        let condition: TraitCondition
    }

    private let device: DeviceTraits
    private var answers: [Condition: Bool] = [:]

    init(of device: DeviceTraits) { self.device = device }

    mutating func areMet(of offer: PackOffer) -> Bool {
        for (trait, condition) in offer.devices {
            let key = Condition(trait: trait, condition: condition)
            let answer = answers[key] ?? condition.isMet(by: device[trait])
            answers[key] = answer
            if !answer { return false }
        }
        return true
    }
}
