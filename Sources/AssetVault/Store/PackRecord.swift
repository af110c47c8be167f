import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// The record of one pack, which changes by a ``PackEvent`` alone. It keeps the verified manifests, slots included, so that what was staged can be opened without the
/// site.
struct PackRecord: Sendable, Equatable {
    struct Loaded: Sendable, Equatable {
        var pack: PackManifest
        var form: PackForm

        var name: VersionName { VersionName(of: pack, as: form) }
    }

    /// A version that is complete in permanent storage, and becomes live together with the others of its set.
    struct Ready: Sendable, Equatable {
        var version: Loaded
        /// See ``PackRecord/fingerprint``.
        var fingerprint: SHA256Digest?
    }

    /// Counts the times that the record was saved.
    var generation: Int64 = 0
    /// Being downloaded to ephemeral storage.
    var arriving: PackManifest?
    /// The listing that it is downloaded by: it decides on the pack when the download is complete. In JSON
    /// `arrivingRootVersion` and `arrivingSnapshotVersion`.
    var arrivingListing = ListingVersion()
    /// Verified in shared storage, waiting for its key.
    var waiting: PackManifest?
    /// What is to be live with its set; see ``PackSets``.
    var ready: Ready?
    /// What `current` points to.
    var loaded: Loaded?
    /// The ``VersionFingerprint`` of the loaded version when it was staged; nil where that was not noted. In JSON
    /// `look`.
    var fingerprint: SHA256Digest?
    /// The form that the app chose for the pack, or without a choice that of its first version; nil before both. In JSON
    /// `form`.
    var chosenForm: PackForm?
    /// The listing that decided on the pack: a process with an older one changes nothing. In JSON `rootVersion` and
    /// `snapshotVersion`.
    var listing = ListingVersion()
    /// Why the last attempt failed.
    var failure: PackFailure?
    /// The app removed the pack. It stays removed until the app asks for it again. In JSON `removed`.
    var isRemoved = false
    /// The app declared that the pack may be removed when disk space is needed. In JSON `purgeable`.
    var isDeclaredPurgeable = false
    /// The app asked for the pack to stay: it is not purged, even as an on-demand pack. In JSON `kept`.
    var isKept = false
    /// Purgeable, because another variant serves this device. In JSON `replacedVariant`.
    var isReplacedVariant = false

    init() {}

    /// A downloader's record with the fields that only the app decides.
    func merged(withAppRecord app: PackRecord) -> PackRecord {
        var record = self
        record.listing = max(listing, app.listing)
        record.waiting = waiting ?? app.waiting
        // What is ready need not be downloaded.
        record.loaded = app.ready?.version ?? app.loaded
        record.chosenForm = app.chosenForm
        record.isRemoved = app.isRemoved
        (record.isDeclaredPurgeable, record.isKept) = (app.isDeclaredPurgeable, app.isKept)
        record.isReplacedVariant = app.isReplacedVariant
        return record
    }

    /// The record as a downloader saves it, without the fields that only the app decides.
    var withoutAppFields: PackRecord {
        var record = PackRecord()
        record.generation = generation
        record.listing = listing
        (record.arriving, record.arrivingListing) = (arriving, arrivingListing)
        record.waiting = waiting
        record.failure = failure
        return record
    }

    /// The versions in permanent storage that are wanted.
    var versions: [Loaded] { [loaded, ready?.version].compactMap(\.self) }

    /// The packs whose trees may be begun: one that waits is freed while it is opened, if disk space is short.
    var begun: [PackManifest] { [arriving, waiting].compactMap(\.self) }

    /// Whether the record names the listing that decided on the pack. A new one names none.
    var wasListed: Bool { listing != ListingVersion() }

    /// Whether this listing may decide on the pack: no newer one did, and the app did not remove the pack.
    func accepts(_ listing: ListingVersion) -> Bool { self.listing <= listing && !isRemoved }

    /// Whether just this download was recorded as begun.
    func hasBegun(_ pack: PackManifest, listedBy listing: ListingVersion) -> Bool {
        arriving == pack && arrivingListing == listing
    }

    /// Whether the pack is live just as it is listed, and nothing of it is under way.
    func isLoaded(_ pack: PackManifest, as form: PackForm, listedBy listing: ListingVersion) -> Bool {
        accepts(listing) && loaded == Loaded(pack: pack, form: form) && waiting == nil && arriving == nil
            && ready == nil && failure == nil
    }

    /// The file's bytes: a JSON object with the SHA-256 of its own canonical form without that member.
    var bytes: [UInt8] {
        var object: JSONObject = [
            "format": .integer(1), "generation": .integer(generation),
            "rootVersion": .integer(listing.root), "snapshotVersion": .integer(listing.snapshot),
        ]
        if let arriving {
            object["arriving"] = .object(arriving.json)
            object["arrivingRootVersion"] = .integer(arrivingListing.root)
            object["arrivingSnapshotVersion"] = .integer(arrivingListing.snapshot)
        }
        if let chosenForm { object["form"] = .string(chosenForm.rawValue) }
        if isRemoved { object["removed"] = .bool(true) }
        if isDeclaredPurgeable { object["purgeable"] = .bool(true) }
        if isKept { object["kept"] = .bool(true) }
        if isReplacedVariant { object["replacedVariant"] = .bool(true) }
        if let waiting { object["waiting"] = .object(waiting.json) }
        if let loaded { object["loaded"] = .object(loaded.json) }
        if let fingerprint { object["look"] = .string(fingerprint.hex) }
        if let ready {
            object["ready"] = .object(ready.version.json)
            if let fingerprint = ready.fingerprint { object["readyLook"] = .string(fingerprint.hex) }
        }
        if let failure { object["failure"] = .object(failure.json) }
        object["checksum"] = .string(SHA256.hash(JSONValue.object(object).canonical().span).hex)
        // Not canonical JSON, which is not JSON where a text has control characters.
        return JSONValue.object(object).compact()
    }

    /// Throws `.corrupt` for anything that `bytes` would not have made.
    init(parsing bytes: [UInt8], place: String) throws(VaultError) {
        var object = try JSONValue(parsing: bytes.span, place: place).asObject(at: place)
        let checksum = try object.string("checksum", at: place)
        object["checksum"] = nil
        guard try object.integer("format", at: place) == 1,
            SHA256.hash(JSONValue.object(object).canonical().span).hex.utf8.elementsEqual(checksum.utf8)
        else {
            throw VaultError(
                .corrupt, "the record is damaged", at: place, remedy: "remove it and fetch the pack again")
        }
        generation = try object.integer("generation", at: place)
        listing = ListingVersion(
            root: try object.integer("rootVersion", at: place),
            snapshot: try object.integer("snapshotVersion", at: place))
        arriving = try object.optionalObject("arriving", at: place).map { json throws(VaultError) in
            try PackManifest(parsing: json, place: place)
        }
        // Earlier releases did not note it.
        arrivingListing = ListingVersion(
            root: try object.optionalInteger("arrivingRootVersion", at: place) ?? listing.root,
            snapshot: try object.optionalInteger("arrivingSnapshotVersion", at: place) ?? listing.snapshot)
        waiting = try object.optionalObject("waiting", at: place).map { json throws(VaultError) in
            try PackManifest(parsing: json, place: place)
        }
        isRemoved = object["removed"] == .bool(true)
        isDeclaredPurgeable = object["purgeable"] == .bool(true)
        isKept = object["kept"] == .bool(true)
        isReplacedVariant = object["replacedVariant"] == .bool(true)
        chosenForm = try object.optionalString("form", at: place).map { text throws(VaultError) in
            try Self.form(text, place)
        }
        loaded = try object.optionalObject("loaded", at: place).map { json throws(VaultError) in
            try Loaded(parsing: json, place: place)
        }
        fingerprint = try object.optionalString("look", at: place).flatMap { SHA256Digest(hex: $0) }
        ready = try object.optionalObject("ready", at: place).map { json throws(VaultError) in
            Ready(
                version: try Loaded(parsing: json, place: place),
                fingerprint: try object.optionalString("readyLook", at: place).flatMap {
                    SHA256Digest(hex: $0)
                })
        }
        failure = try object.optionalObject("failure", at: place).map { json throws(VaultError) in
            try PackFailure(parsing: json, place: place)
        }
    }

    fileprivate static func form(_ text: String, _ place: String) throws(VaultError) -> PackForm {
        if let form = PackForm(rawValue: text) { return form }
        throw VaultError(
            .corrupt, "the record names an unknown form", at: place,
            remedy: "use a newer release of this program")
    }
}

extension PackRecord.Loaded {
    fileprivate var json: JSONObject {
        // "target": the manifest stands in the custom part of a TUF target.
        ["form": .string(form.rawValue), "target": .object(pack.json)]
    }

    fileprivate init(parsing json: JSONObject, place: String) throws(VaultError) {
        let target = try json.object("target", at: place)
        self.init(
            pack: try PackManifest(parsing: target, place: place),
            form: try PackRecord.form(try json.string("form", at: place), place))
    }
}

/// Why the last attempt to get a pack failed.
struct PackFailure: Sendable, Equatable {
    let reason: String
    /// Nil for one that this release does not know.
    let category: VaultError.Category?

    /// The failure of one pack: the place of the error is omitted.
    init(_ error: VaultError) {
        reason = error.problem
        category = error.category
    }

    /// An error that kept the pack's state from being read, with its place.
    init(readingState error: VaultError) {
        reason = error.description
        category = error.category
    }

    var json: JSONObject {
        var object: JSONObject = ["reason": .string(reason)]
        object["category"] = category.map { .string($0.rawValue) }
        return object
    }

    init(parsing json: JSONObject, place: String) throws(VaultError) {
        reason = try json.string("reason", at: place)
        category = try json.optionalString("category", at: place).flatMap(VaultError.Category.init)
    }
}

/// The manifest beside each file or tree with a final name, so that it explains itself.
extension PackManifest {
    var savedBytes: [UInt8] { JSONValue.object(json).compact() }

    /// Writes the manifest beside a pack or an opened tree, durably.
    func save(beside file: FilePath) throws(VaultError) {
        try DurableFile.write(
            savedBytes.span, to: PackManifestFile.path(beside: file), permissions: 0o644, replacing: true)
    }

    /// Whether just this manifest is beside a pack or an opened tree.
    func isSaved(beside file: FilePath) -> Bool {
        let bytes = savedBytes
        return (try? DurableFile.read(PackManifestFile.path(beside: file), limit: bytes.count)) == bytes
    }

    /// Whether a file is this pack, by its length and its SHA-256.
    func isVerified(by file: borrowing OpenFile) throws(VaultError) -> Bool {
        try file.hasContent(length: length, sha256)
    }
}
