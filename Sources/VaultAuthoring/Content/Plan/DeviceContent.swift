public import SealedPack
public import VaultBase
public import VaultSite

/// The packs of a plan that one device gets: of variants only the one that fits it.
public struct DeviceContent: Sendable {
    public let device: DeviceTraits
    public let packs: [ContentPlan.Pack]

    /// Throws `.cancelled`.
    public init(of plan: ContentPlan, for device: DeviceTraits) throws(VaultError) {
        self.device = device
        let choice = try VariantChoice(
            among: plan.packs.map { VariantChoice.Candidate(planned: $0.id, $0.offer) }, for: device)
        packs = plan.packs.filter { choice.takes($0.id) }
    }

    /// Bytes of the packs of some policies, opened.
    public func openedSize(of policies: Set<PackPolicy>) -> UInt64 {
        packs.lazy.filter { policies.contains($0.offer.policy) }.totalSize
    }

    /// Bytes of each tag's packs, opened: a pack with several tags counts for each.
    public var tagSizes: [String: UInt64] {
        var sizes: [String: UInt64] = [:]
        for pack in packs {
            for tag in pack.offer.tags {
                let size = sizes[tag] ?? 0
                sizes[tag] = size.saturatingAdding(pack.openedSize)
            }
        }
        return sizes
    }

    /// Bytes of all packs as they are stored and downloaded; nil where one of them is not published.
    public var sealedSize: UInt64? { Self.sealedSize(of: packs) }

    /// The same of each tag's packs; without the tags of packs that are not published.
    public var sealedTagSizes: [String: UInt64] {
        var tagged: [String: [ContentPlan.Pack]] = [:]
        for pack in packs {
            for tag in pack.offer.tags { tagged[tag, default: []].append(pack) }
        }
        return tagged.compactMapValues(Self.sealedSize)
    }

    private static func sealedSize(of packs: [ContentPlan.Pack]) -> UInt64? {
        let published = packs.compactMap(\.published)
        return published.count == packs.count ? published.saturatingSum(\.length) : nil
    }
}

extension Sequence<ContentPlan.Pack> {
    /// Bytes of all of them, opened; no more than a number can hold.
    var totalSize: UInt64 { saturatingSum(\.openedSize) }
}

extension ContentPlan {
    /// The maximum number of devices that are listed.
    static let deviceLimit = 256

    /// The values that the packs' traits have, by name.
    var traitValues: [String: Set<String>] { DeviceTraits.values(in: packs.map(\.offer)) }

    /// How many combinations of these values there are.
    var deviceCount: Int {
        traitValues.values.reduce(1) { product, values in
            let (count, overflow) = product.multipliedReportingOverflow(by: values.count)
            return overflow ? .max : count
        }
    }

    /// A device for each combination of the values that the packs' traits have; one without traits where there is no variant.
    /// At most 256.
    public var devices: [DeviceTraits] {
        DeviceTraits.combinations(in: packs.map(\.offer), atMost: Self.deviceLimit)
    }
}

extension DeviceTraits {
    /// The values that the traits of packs have, by name.
    fileprivate static func values(in offers: [PackOffer]) -> [String: Set<String>] {
        var values: [String: Set<String>] = [:]
        for offer in offers where offer.family != nil {
            for (name, value) in offer.traits {
                if let text = value.traitText { values[name, default: []].insert(text) }
            }
        }
        return values
    }

    /// A device for each combination of these values; one without traits where there is no variant.
    static func combinations(in offers: [PackOffer], atMost limit: Int) -> [DeviceTraits] {
        var devices: [[String: [String]]] = [[:]]
        for (name, texts) in values(in: offers).sorted(by: { $0.key.bytesPrecede($1.key) }) {
            let texts = texts.sorted { $0.bytesPrecede($1) }
            devices = devices.flatMap { device in
                texts.map { text in device.merging([name: [text]]) { $1 } }
            }
            devices = Array(devices.prefix(limit))
        }
        return devices.map { DeviceTraits($0) }
    }
}
