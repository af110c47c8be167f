public import StrictJSON
import VaultCrypto
public import VaultErrors

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
        var slots: [KeySlot] = []
        for value in values {
            if let slot = try KeySlot(parsing: try value.asObject(at: place), place: place) {
                slots.append(slot)
            }
        }
        self.slots = slots
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
