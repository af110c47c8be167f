import SealedPack

/// Sizes as they are stored and downloaded, of what is published.
extension DeviceContent {
    /// Bytes of all packs, sealed; nil where one of them is not published.
    public var sealedSize: UInt64? { Self.sealedSize(of: packs) }

    /// Bytes of each tag's packs, sealed; without the tags of packs that are not published.
    public var sealedTagSizes: [String: UInt64] {
        var tagged: [String: [ContentPlan.Pack]] = [:]
        for pack in packs {
            for tag in pack.offer.tags { tagged[tag, default: []].append(pack) }
        }
        return tagged.compactMapValues(Self.sealedSize)
    }

    private static func sealedSize(of packs: [ContentPlan.Pack]) -> UInt64? {
        var sum: UInt64 = 0
        for pack in packs {
            guard let length = pack.published?.length else { return nil }
            sum += min(length, .max - sum)
        }
        return sum
    }
}
