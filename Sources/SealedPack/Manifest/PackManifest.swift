public import StrictJSON
public import VaultCrypto
import VaultErrors

/// What is said about one sealed pack: its length and digests, its identity, its policy, and the slots that hold
/// its content key. As a target object of signed metadata it is to be believed; as a file beside a local pack it
/// is only as good as the place it came from.
public struct PackManifest: Sendable, Hashable {
    /// The pack format that this module reads and writes.
    public static let format: Int64 = 1

    /// Bytes of the whole pack.
    public let length: UInt64
    public let sha256: SHA256Digest
    public let id: PackID
    public let version: UInt64
    public let contentKeyID: ContentKeyID
    public let pieceCount: UInt32
    /// Files and empty folders.
    public let entryCount: UInt32
    public let indexDigest: SHA256Digest
    /// Bytes of the catalog's ciphertext.
    public let catalogCount: UInt64
    public let catalogDigest: SHA256Digest
    /// Bytes of all files together, once opened.
    public let openedSize: UInt64
    /// How a client gets the pack, and whom it is for; the publisher may change these without sealing again.
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
            length: footer.layout.packCount, sha256: sha256, id: id, version: version,
            contentKeyID: contentKeyID, pieceCount: footer.layout.pieceCount, entryCount: entryCount,
            indexDigest: footer.indexDigest, catalogCount: footer.layout.catalogCount,
            catalogDigest: footer.catalogDigest, openedSize: openedSize, offer: offer, slots: slots)
    }

    public var policy: PackPolicy { offer.policy }
    /// What the publisher calls it, for apps to choose packs by.
    public var tags: [String] { offer.tags }
}

/// The part of a manifest that the publisher chooses.
public struct PackOffer: Sendable, Hashable {
    public var policy: PackPolicy
    public var tags: [String]
    /// Variant traits, such as `"language": "de"`.
    public var traits: JSONObject

    public init(policy: PackPolicy = .prefetch, tags: [String] = [], traits: JSONObject = JSONObject()) {
        self.policy = policy
        self.tags = tags
        self.traits = traits
    }
}

/// When a client fetches a pack.
public enum PackPolicy: String, Sendable, CaseIterable {
    /// With the installation, before the first use.
    case essential
    /// As soon as there is time.
    case prefetch
    /// When the app asks.
    case onDemand
}

extension PackManifest {
    /// The layout that a pack of this description must have.
    func layout(place: String) throws(VaultError) -> PackLayout {
        try PackLayout(packCount: length, pieceCount: pieceCount, catalogCount: catalogCount, place: place)
    }

    /// The first 64 bytes of the pack.
    var header: PackHeader { PackHeader(contentKeyID: contentKeyID) }

    /// The last 128 bytes of the pack.
    func footer(place: String) throws(VaultError) -> PackFooter {
        PackFooter(layout: try layout(place: place), indexDigest: indexDigest, catalogDigest: catalogDigest)
    }
}
