public import StrictJSON
public import VaultCrypto
import VaultErrors

/// The public description of one sealed pack: length and digests, ID, policy, and the slots with its content key. It is
/// trusted as a target object of signed metadata; a file beside a local pack is not verified.
public struct PackManifest: Sendable, Hashable {
    /// The pack format that this module reads and writes.
    public static let format: Int64 = 1

    /// Bytes of the whole pack.
    public let length: UInt64
    public let sha256: SHA256Digest
    public internal(set) var id: PackID
    public let version: UInt64
    public let contentKeyID: ContentKeyID
    public let pieceCount: UInt32
    /// Files and empty folders.
    public let entryCount: UInt32
    public let indexDigest: SHA256Digest
    /// Bytes of the catalog's ciphertext.
    public let catalogLength: UInt64
    public let catalogDigest: SHA256Digest
    /// Bytes of all files together, once opened.
    public let openedSize: UInt64
    /// Policy, tags and traits, which the publisher may change without sealing again.
    public var offer: PackOffer
    /// The content key, wrapped once for each vault key.
    public var slots: [KeySlot]
}

extension PackManifest {
    /// What is known of a pack that was just sealed.
    package init(
        of footer: PackFooter, sha256: SHA256Digest, id: PackID, version: UInt64, contentKeyID: ContentKeyID,
        entryCount: UInt32, openedSize: UInt64, offer: PackOffer, slots: [KeySlot]
    ) {
        self.init(
            length: footer.layout.packLength, sha256: sha256, id: id, version: version,
            contentKeyID: contentKeyID, pieceCount: footer.layout.pieceCount, entryCount: entryCount,
            indexDigest: footer.indexDigest, catalogLength: footer.layout.catalogLength,
            catalogDigest: footer.catalogDigest, openedSize: openedSize, offer: offer, slots: slots)
    }

    /// Bytes of the index and the catalog, which are downloaded first.
    package var tailLength: UInt64 {
        let index = UInt64(pieceCount) * UInt64(IndexRecord.length)
        return index + min(catalogLength, .max - index)
    }

    /// The same under another ID: what a pack is called whose site lists it by a digest.
    package func called(_ name: PackID) -> PackManifest {
        var pack = self
        pack.id = name
        return pack
    }

    public var policy: PackPolicy { offer.policy }
    /// The publisher's labels, by which apps choose packs.
    public var tags: [String] { offer.tags }
}

/// How the publisher wants the pack to be used: policy, tags, traits, order, versions of the app. It is the part of a manifest
/// that may change without sealing the pack again.
public struct PackOffer: Sendable, Hashable {
    public var policy: PackPolicy
    public var tags: [String]
    /// Further tags of its record that whoever signed it may not give: they only distinguish variants.
    public var withheldTags: [String] = []
    /// Variant traits, such as `"language": "de"`.
    public var traits: JSONObject
    /// The resource tree that it is made of, the beginning of its ID; the packs of a family share one content key.
    public var family: PackID?
    /// Packs of one policy are fetched in ascending order.
    public var order: Int64
    /// How a device chooses among the family's packs with the same tags and other values of these traits.
    public var matching: [String: TraitMatching]
    /// The versions of the app that it is for.
    public var apps: AppVersionRange
    /// From 0 to 100: packs with less are purged first. An app may change it.
    public var preservation: Int64

    public static let standardPreservation: Int64 = 50

    /// Whether a text may be a tag, or the name of a trait: 1 to 256 bytes without control characters.
    public static func isWord(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// The maximum number of traits of a pack, and of the fallbacks of a trait: clients compare them all.
    public static let traitLimit = 32

    /// Whether a text may be the name or a value of a trait: 1 to 64 bytes without control characters.
    public static func isTraitText(_ text: String) -> Bool { text.utf8.count <= 64 && isWord(text) }

    public init(
        policy: PackPolicy = .prefetch, tags: [String] = [], traits: JSONObject = JSONObject(),
        family: PackID? = nil, order: Int64 = 0, matching: [String: TraitMatching] = [:],
        apps: AppVersionRange = .all, preservation: Int64 = standardPreservation
    ) {
        self.policy = policy
        self.tags = tags
        self.traits = traits
        self.family = family
        self.order = order
        self.matching = matching
        self.apps = apps
        self.preservation = preservation
    }
}

/// When a client fetches a pack.
public enum PackPolicy: String, Sendable, CaseIterable {
    /// With the installation, before the first use.
    case essential
    /// In the background.
    case prefetch
    /// When the app requests it.
    case onDemand
}

extension PackManifest {
    /// The layout of the described pack.
    func layout(place: String) throws(VaultError) -> PackLayout {
        try PackLayout(packLength: length, pieceCount: pieceCount, catalogLength: catalogLength, place: place)
    }

    /// The first 64 bytes of the pack.
    var header: PackHeader { PackHeader(contentKeyID: contentKeyID) }

    /// The last 128 bytes of the pack.
    func footer(place: String) throws(VaultError) -> PackFooter {
        PackFooter(layout: try layout(place: place), indexDigest: indexDigest, catalogDigest: catalogDigest)
    }
}
