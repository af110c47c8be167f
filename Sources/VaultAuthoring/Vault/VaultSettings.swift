public import SealedPack
import StrictJSON
public import SystemPackage
public import UpdateFramework
public import VaultArchive
public import VaultErrors
import VaultFileSystem

/// The content of `vault.json`. Outside of packs, members that are not known are kept when it is written again.
public struct VaultSettings: Sendable {
    /// A pack that the vault publishes.
    public struct Pack: Sendable {
        public var id: PackID
        /// A folder or an archive; relative paths begin at the vault.
        public var source: FilePath
        public var filter: SourceFilter
        /// Whether what symbolic links in a folder lead to is packed, instead of refused.
        public var followsLinks = false
        public var offer: PackOffer
        /// Of pieces that are sealed anew.
        public var compression: Compression?
        /// The earlier version that is listed, whatever the source is now.
        public var pin: UInt64?
        /// The highest number that a version had when an earlier one was restored.
        public var lastVersion: UInt64 = 0
    }

    public private(set) var packs: [Pack]
    public let lifetime: MetadataLifetime
    public let structure: SiteStructure
    private var json: JSONObject

    /// What `init` writes.
    static func fresh(for team: MetadataRole?) -> JSONObject {
        let lifetime = MetadataLifetime()
        var json: JSONObject = [
            "format": 1,
            "expiry": [
                "root": .integer(Int64(lifetime.root)), "targets": .integer(Int64(lifetime.targets)),
                "snapshot": .integer(Int64(lifetime.snapshot)),
                "timestamp": .integer(Int64(lifetime.timestamp)),
            ],
            "packs": [:],
        ]
        json["team"] = team.map { .string($0.name) }
        return json
    }

    public init(reading path: FilePath) throws(VaultError) {
        let place = path.string
        let bytes: [UInt8]
        do { bytes = try DurableFile.read(path, limit: 16 << 20) } catch {
            guard error.category == .missing else { throw error }
            let isLost = try FileSystem.exists(path.removingLastComponent().appending("keys"))
            throw VaultError(
                .missing, isLost ? "the vault has lost its settings" : "there is no vault here", at: place,
                remedy: isLost
                    ? "restore the file from your backup"
                    : "check the path, or make one with 'assetvault init VAULT'")
        }
        json = try JSONValue(parsing: bytes.span, place: place).asObject(at: place)
        guard try json.integer("format", at: place) == 1 else {
            throw VaultError(
                .corrupt, "its format is unknown", at: place, remedy: "use a newer release of this program")
        }
        lifetime = try MetadataLifetime(
            parsing: try json.optionalObject("expiry", at: place) ?? [:], place: place)
        structure = try SiteStructure(parsing: json, place: place)
        var packs: [Pack] = []
        for (key, value) in try json.object("packs", at: place) {
            packs.append(
                try Pack(id: PackID(key), parsing: try value.asObject(at: place), place: "\(place): \(key)"))
        }
        self.packs = packs
    }

    /// Declares one more pack, or another source for a pack that is declared.
    public mutating func declare(_ id: PackID, source: FilePath) throws(VaultError) {
        try change(id) { entry in
            entry["source"] = .string(source.string)
            entry["pin"] = nil
        }
    }

    /// Lists an earlier version of a pack from now on, or with nil the source as it is again.
    ///
    /// - Parameter highest: a number that no later version may fall below.
    mutating func pin(_ id: PackID, to version: UInt64?, above highest: UInt64) throws(VaultError) {
        guard let pack = packs.first(where: { $0.id == id }) else {
            throw VaultError(
                .missing, "the vault declares no pack '\(id)'", at: "vault.json",
                remedy: packs.isEmpty
                    ? "declare one" : "choose among \(packs.map(\.id.description).joined(separator: ", "))")
        }
        try change(id) { entry in
            entry["pin"] = version.map { .integer(Int64(clamping: $0)) }
            entry["lastVersion"] = .integer(Int64(clamping: max(highest, pack.lastVersion)))
        }
    }

    private mutating func change(_ id: PackID, _ body: (inout JSONObject) -> Void) throws(VaultError) {
        var table = try json.object("packs", at: "vault.json")
        var entry = try table.optionalObject(id.description, at: "vault.json") ?? [:]
        body(&entry)
        table[id.description] = .object(entry)
        json["packs"] = .object(table)
        packs.removeAll { $0.id == id }
        packs.append(try Pack(id: id, parsing: entry, place: "vault.json: \(id)"))
        packs.sort { $0.id < $1.id }
    }

    public func write(to path: FilePath) throws(VaultError) {
        try DurableFile.write(
            JSONValue.object(json).pretty().span, to: path, permissions: 0o644, replacing: true)
    }
}
