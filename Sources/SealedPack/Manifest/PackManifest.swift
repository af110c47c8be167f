public import SystemPackage
public import VaultBase
public import VaultCrypto
import VaultFileSystem

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
    /// The pieces that are downloaded before the others, in this order.
    public var first = FirstPieces()
}

extension PackManifest {
    /// The properties of a pack that was just sealed.
    package init(
        of footer: PackFooter, sha256: SHA256Digest, id: PackID, version: UInt64, contentKeyID: ContentKeyID,
        entryCount: UInt32, openedSize: UInt64, offer: PackOffer, slots: [KeySlot], first: FirstPieces
    ) {
        self.init(
            length: footer.layout.packLength, sha256: sha256, id: id, version: version,
            contentKeyID: contentKeyID, pieceCount: footer.layout.pieceCount, entryCount: entryCount,
            indexDigest: footer.indexDigest, catalogLength: footer.layout.catalogLength,
            catalogDigest: footer.catalogDigest, openedSize: openedSize, offer: offer, slots: slots,
            first: first)
    }

    /// Bytes of the index and the catalog, which are downloaded first.
    package var tailLength: UInt64 {
        let index = UInt64(pieceCount) * UInt64(IndexRecord.length)
        return index.saturatingAdding(catalogLength)
    }

    /// The same under another ID: the name of a pack whose site lists it under an opaque ID.
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
    /// Further tags of its record that its signer may not give: they only distinguish variants.
    public var withheldTags: [String] = []
    /// Variant traits, such as `"language": "de"`.
    public var traits: JSONObject
    /// The resource tree that it is made of, the beginning of its ID; the packs of a family share one content key.
    public var family: PackID?
    /// Packs of one policy are fetched in ascending order.
    public var order: Int64
    /// The devices that it is for: those whose traits meet all conditions; without conditions all devices.
    public var devices: [String: TraitCondition]
    /// For packs of earlier releases, which have no conditions: how a device chooses among the family's packs with the same tags
    /// and other values of these traits.
    public var matching: [String: TraitMatching]
    /// The versions of the app that it is for.
    public var apps: AppVersionRange
    /// From 0 to 100: packs with less are purged first. An app may change it.
    public var preservation: Int64
    /// Whether it waits for its release: clients download and verify it although no key of theirs opens it.
    public var isHeld: Bool

    public static let standardPreservation: Int64 = 50

    /// Whether a text may be a tag, or the name of a trait: 1 to 256 bytes in Unicode's normalisation form C (UAX #15), without
    /// control characters. In one form equal texts have equal bytes, so all comparisons agree.
    public static func isWord(_ text: String) -> Bool {
        var bytes = text.utf8Span
        return (1...256).contains(bytes.count) && bytes.checkForNFC(quickCheck: false)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// The rule of ``isWord(_:)``, as a remedy.
    public static let wordRule =
        "use 1 to 256 bytes in Unicode's normalisation form C, without control characters"

    /// The maximum number of tags of a pack: clients compare and record them all.
    public static let tagLimit = 256

    /// The maximum number of traits of a pack, and of the fallbacks of a trait: clients compare them all.
    public static let traitLimit = 32

    /// Whether a text may be the name or a value of a trait: a word of at most 64 bytes.
    public static func isTraitText(_ text: String) -> Bool { text.utf8.count <= 64 && isWord(text) }

    public init(
        policy: PackPolicy = .prefetch, tags: [String] = [], traits: JSONObject = JSONObject(),
        family: PackID? = nil, order: Int64 = 0, devices: [String: TraitCondition] = [:],
        matching: [String: TraitMatching] = [:], apps: AppVersionRange = .all,
        preservation: Int64 = standardPreservation, isHeld: Bool = false
    ) {
        self.policy = policy
        self.tags = tags
        self.traits = traits
        self.family = family
        self.order = order
        self.devices = devices
        self.matching = matching
        self.apps = apps
        self.preservation = preservation
        self.isHeld = isHeld
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

/// A manifest is a TUF target object (TUF 1.0, section 4.5): `length`, `hashes.sha256`, and an `assetvault`
/// object in `custom`.
extension PackManifest {
    /// The target object.
    public var json: JSONObject {
        var vault: JSONObject = [
            "format": .integer(Self.format),
            "id": .string(id.description),
            "version": .integer(Int64(version)),
            "openedSize": .integer(Int64(clamping: openedSize)),
            "contentKeyID": .string(contentKeyID.description),
            "pieces": .integer(Int64(pieceCount)),
            "entries": .integer(Int64(entryCount)),
            "index": .object([
                "length": .integer(Int64(pieceCount) * Int64(IndexRecord.length)),
                "sha256": .string(indexDigest.hex),
            ]),
            "catalog": .object([
                "length": .integer(Int64(clamping: catalogLength)),
                "sha256": .string(catalogDigest.hex),
            ]),
            "slots": .array(slots.map { .object($0.json) }),
        ]
        for (name, value) in offer.json { vault[name] = value }
        vault["first"] = first.json
        return [
            "length": .integer(Int64(clamping: length)),
            "hashes": .object(["sha256": .string(sha256.hex)]),
            "custom": .object(["assetvault": .object(vault)]),
        ]
    }

    /// The pack format that a target object states; nil when the target is not a pack.
    public static func format(of target: JSONObject) -> Int64? {
        guard case .object(let custom)? = target["custom"], case .object(let vault)? = custom["assetvault"],
            case .integer(let format)? = vault["format"]
        else { return nil }
        return format
    }

    /// Reads a target object. Throws `.corrupt`, naming the member, also for an unknown format.
    public init(parsing target: JSONObject, place: String) throws(VaultError) {
        let vault = try target.object("custom", at: place).object("assetvault", at: "\(place): custom")
        let format = try vault.integer("format", at: place)
        guard format == Self.format else {
            throw .unsupportedFormat("pack format version \(format) is unknown", at: place)
        }
        length = try Self.count("length", of: target, at: place)
        sha256 = try Self.digest(of: try target.object("hashes", at: place), at: place)
        do { id = try PackID(try vault.string("id", at: place)) } catch {
            throw VaultError(
                .corrupt, "the pack's ID is not allowed: \(error.problem)", at: place, remedy: error.remedy)
        }
        version = try Self.count("version", of: vault, at: place)
        contentKeyID = try ContentKeyID(try vault.string("contentKeyID", at: place), place: place)
        guard let pieces = UInt32(exactly: try vault.integer("pieces", at: place)) else {
            throw Self.refusal("pieces", at: place)
        }
        pieceCount = pieces
        guard let entries = UInt32(exactly: try vault.integer("entries", at: place)),
            entries <= FormatLimits.maximumEntries
        else { throw Self.refusal("entries", at: place) }
        entryCount = entries
        let index = try vault.object("index", at: place)
        indexDigest = try Self.digest(of: index, at: "\(place): index")
        guard try Self.count("length", of: index, at: place) == UInt64(pieces) * UInt64(IndexRecord.length)
        else {
            throw Self.refusal("index.length", at: place)
        }
        let catalog = try vault.object("catalog", at: place)
        catalogLength = try Self.count("length", of: catalog, at: place)
        catalogDigest = try Self.digest(of: catalog, at: "\(place): catalog")
        openedSize = try Self.count("openedSize", of: vault, at: place)
        offer = try PackOffer(of: id, parsing: vault, place: place)
        let values = try vault.array("slots", at: place)
        guard values.count <= FormatLimits.maximumSlots else {
            throw VaultError(
                .corrupt, "it has \(values.count) slots, more than \(FormatLimits.maximumSlots)", at: place,
                remedy: "get the manifest again")
        }
        slots = try KeySlot.slots(parsing: values, place: place)
        first = try FirstPieces(parsing: vault.optionalArray("first", at: place) ?? [], of: pieces, place)
        _ = try layout(place: place)
    }

    private static func count(_ key: String, of object: JSONObject, at place: String) throws(VaultError)
        -> UInt64
    {
        guard let value = UInt64(exactly: try object.integer(key, at: place)),
            value <= FormatLimits.maximumVersion
        else {
            throw refusal(key, at: place)
        }
        return value
    }

    private static func digest(of object: JSONObject, at place: String) throws(VaultError) -> SHA256Digest {
        guard let digest = SHA256Digest(hex: try object.string("sha256", at: place)) else {
            throw refusal("sha256", at: place)
        }
        return digest
    }

    private static func refusal(_ key: String, at place: String) -> VaultError {
        VaultError(
            .corrupt, "\"\(key)\" has an impossible value", at: place, remedy: "get the manifest again")
    }
}

/// The manifest beside a local pack: `PACK.json`.
public enum PackManifestFile {
    private static let limit = 64 << 20

    public static func path(beside pack: FilePath) -> FilePath {
        FilePath(pack.string + ".json")
    }

    /// The path of a new manifest until its pack has its name: `PACK.json.next`.
    public static func pending(_ manifest: FilePath) -> FilePath {
        FilePath(manifest.string + ".next")
    }

    /// The file's content: the target object, indented, with a newline at the end.
    public static func bytes(of pack: PackManifest) -> [UInt8] {
        JSONValue.object(pack.json).pretty()
    }

    public static func read(_ path: FilePath) throws(VaultError) -> PackManifest {
        let bytes = try DurableFile.read(path, limit: limit)
        let json = try JSONValue(parsing: bytes.span, place: path.string).asObject(at: path.string)
        return try PackManifest(parsing: json, place: path.string)
    }

    public static func read(beside pack: FilePath) throws(VaultError) -> PackManifest {
        try read(path(beside: pack))
    }
}
