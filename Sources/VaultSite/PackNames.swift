public import SealedPack
public import UpdateFramework
public import VaultBase

/// What the packs of a site with opaque names are called, with their tags and traits. Publicly each has a keyed digest for a name and
/// none of the others; a pack of its own holds this table, sealed and signed as any pack.
public struct PackNames: Sendable, Equatable {
    /// What the site says of one pack to those with the key.
    public struct Entry: Sendable, Equatable {
        public let name: PackID
        public let offer: PackOffer

        public init(name: PackID, offer: PackOffer) { (self.name, self.offer) = (name, offer) }
    }

    /// The pack with the table. No other pack may have this ID.
    public static let packID = "assetvault.names"
    /// The member of the signed part of the role that lists a channel's packs, or delegates to their bins: true where it lists
    /// them under opaque names.
    public static let member = "x-opaque-names"
    /// The table's path in its pack.
    public static let path = "names.json"
    /// In bytes.
    public static let sizeLimit = 64 << 20

    /// The key that makes the listed IDs, for authors alone: a reader of the table can't compute the listed ID of a name.
    package struct SealedKey: Sendable, Equatable {
        package let id: ContentKeyID
        /// For the vault's own keys.
        package let slots: [KeySlot]

        package init(id: ContentKeyID, slots: [KeySlot]) { (self.id, self.slots) = (id, slots) }
    }

    package var key: SealedKey?
    private var entries: [PackID: Entry] = [:]
    private var listedIDs: [PackID: PackID] = [:]
    /// By names, in order: of the entries that only earlier tables have.
    private var formerIDs: [PackID: [PackID]] = [:]

    public init() {}

    public subscript(listed id: PackID) -> Entry? { entries[id] }

    /// The ID that the site lists a pack by; nil for an unknown name.
    public func listedID(of name: PackID) -> PackID? { listedIDs[name] }

    /// The IDs that it has names for.
    package var ids: some Sequence<PackID> { entries.keys }

    /// The other IDs by which earlier tables listed a pack; see ``addFormer(of:for:)``.
    public func formerIDs(of name: PackID) -> [PackID] { formerIDs[name] ?? [] }

    public mutating func add(_ entry: Entry, listedAs id: PackID) {
        entries[id] = entry
        listedIDs[entry.name] = id
    }

    /// Takes the entries of packs that it does not have from an earlier table.
    public mutating func complete(by earlier: PackNames, for ids: [PackID]) {
        for id in ids where entries[id] == nil {
            guard let entry = earlier.entries[id], listedIDs[entry.name] == nil else { continue }
            add(entry, listedAs: id)
        }
    }

    /// Takes the entries of IDs that it does not have from an earlier table, as former ones: packs are called so, and the site lists
    /// none by these IDs. A pack that moved into a resource tree, or out of one, is listed by another ID under the same name.
    public mutating func addFormer(of earlier: PackNames, for ids: some Sequence<PackID>) {
        for id in ids.sorted() where entries[id] == nil {
            guard let entry = earlier.entries[id] else { continue }
            entries[id] = entry
            formerIDs[entry.name, default: []].append(id)
        }
    }

    /// The entries that only earlier tables have, as a table.
    public var former: PackNames {
        var names = PackNames()
        for id in formerIDs.values.joined() {
            if let entry = entries[id] { names.add(entry, listedAs: id) }
        }
        return names
    }

    /// A manifest with the offer that the table has for it; as it is where the table has none.
    public func completing(_ pack: PackManifest) -> PackManifest {
        guard let entry = entries[pack.id] else { return pack }
        var pack = pack
        let listed = pack.offer
        pack.offer = entry.offer
        (pack.offer.family, pack.offer.apps, pack.offer.isHeld) = (listed.family, listed.apps, listed.isHeld)
        // It may be newer than the table. Of variants the table alone knows it.
        if listed.policy != .onDemand { pack.offer.policy = listed.policy }
        return pack
    }

    /// The offer that is listed: what a client needs to know before it has a key.
    ///
    /// - Parameters:
    ///   - family: as it is listed.
    ///   - isForEveryDevice: false for a variant that a device gets only if it states a trait: without the table it is not known
    ///     for which device it is, so it is listed as on demand.
    public static func listedOffer(of offer: PackOffer, family: PackID?, isForEveryDevice: Bool) -> PackOffer
    {
        PackOffer(
            policy: isForEveryDevice ? offer.policy : .onDemand, family: family, order: offer.order,
            apps: offer.apps, isHeld: offer.isHeld)
    }
}

extension PackNames {
    /// Whether an ID has the form of those under which packs with opaque names are listed: `q` and 32 hexadecimal digits, for a pack of
    /// a resource tree two of these. A table names no others: packs with public names keep these.
    static func isOpaque(_ id: String) -> Bool {
        let parts = id.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count <= 2
            && parts.allSatisfy { part in
                let digits = part.utf8.dropFirst()
                return part.utf8.first == UInt8(ascii: "q") && digits.count == 32
                    && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            }
    }

    /// Whether a listed ID shows what a pack is called.
    package static func isName(_ id: PackID) -> Bool {
        !isOpaque(id.description) && id.description != packID
    }

    /// What a pack is called; its listed ID where the table does not have it.
    public func shownID(of id: PackID) -> PackID { entries[id]?.name ?? id }

    /// A text for people with names in the place of listed IDs. Paths and URLs stay as they are.
    public func naming(_ text: String) -> String {
        text.replacing(#/[^\s'",;:()]+/#) { word in
            guard word.output.hasPrefix("q"), let id = try? PackID(String(word.output)) else {
                return String(word.output)
            }
            return shownID(of: id).description
        }
    }

    /// An error with names in the place of listed IDs.
    public func naming(_ error: VaultError) -> VaultError {
        error.with(problem: naming(error.problem), at: naming(error.place), remedy: naming(error.remedy))
    }
}

extension PackNames {
    /// JSON: `{"format": 1, "key": {"id": BASE64URL, "slots": […]}, "packs": {LISTED-ID: {"name": ID, …}}}`, the rest as in a manifest.
    public var bytes: [UInt8] { JSONValue.object(json).compact() }

    package var json: JSONObject {
        let packs = entries.filter { !formerIDs(of: $1.name).contains($0) }.map { id, entry in
            var json = entry.offer.json
            json["name"] = .string(entry.name.description)
            return (id.description, JSONValue.object(json))
        }
        var json: JSONObject = ["format": 1, "packs": .object(JSONObject(lastWins: packs))]
        json["key"] = key.map {
            [
                "id": .string($0.id.description), "slots": .array($0.slots.map { .object($0.json) }),
            ]
        }
        return json
    }

    /// Throws `.corrupt`, also for an unknown format.
    public init(parsing bytes: [UInt8], place: String) throws(VaultError) {
        try self.init(parsing: JSONValue(parsing: bytes.span, place: place).asObject(at: place), place: place)
    }

    package init(parsing json: JSONObject, place: String) throws(VaultError) {
        guard try json.integer("format", at: place) == 1 else {
            throw VaultError(
                .corrupt, "the format of the names is unknown", at: place,
                remedy: "use a newer release of this program")
        }
        if json["key"] != nil { key = try SealedKey(parsing: json.object("key", at: place), place: place) }
        for (id, value) in try json.object("packs", at: place) {
            let entry = try value.asObject(at: place)
            guard Self.isOpaque(id) else {
                throw VaultError(
                    .corrupt, "it names '\(id.excerpt)', which is not an opaque ID", at: place,
                    remedy: "report it to the publisher")
            }
            do throws(VaultError) {
                let name = try PackID(try entry.string("name", at: place))
                add(
                    Entry(name: name, offer: try PackOffer(of: name, parsing: entry, place: place)),
                    listedAs: try PackID(id))
            } catch {
                throw VaultError(.corrupt, error.problem, at: place, remedy: "report it to the publisher")
            }
        }
    }
}

extension PackNames.SealedKey {
    fileprivate init(parsing json: JSONObject, place: String) throws(VaultError) {
        let id = try ContentKeyID(try json.string("id", at: place), place: place)
        self.init(id: id, slots: try KeySlot.slots(parsing: json.array("slots", at: place), place: place))
    }
}

/// Which channels list their packs under opaque names (``PackNames``). The role that lists a channel's packs says so, and so do the
/// packs: with them it is promoted and restored.
extension PackNames {
    /// Whether a channel with these targets has opaque names: it lists their table then.
    public static func areNeeded(for records: [TargetRecord]) -> Bool {
        records.contains { PackID(targetPath: $0.path)?.description == packID }
    }
}

extension VerifiedTargets {
    fileprivate var hasOpaqueNames: Bool { document.signed[PackNames.member] == .bool(true) }
}

extension TargetLookup {
    /// Whether a channel has opaque names. One role is read. Throws as ``TargetLookup/target(at:in:)`` does.
    public func hasOpaqueNames(_ channel: Channel, in chain: TrustChain) async throws(VaultError) -> Bool {
        // Where nothing is divided the top-level targets list the packs.
        (try await role(channel.role, in: chain) ?? chain.targets).hasOpaqueNames
    }
}

extension TargetTree {
    /// Whether a channel has opaque names; false where its role could not be verified.
    public func hasOpaqueNames(_ channel: Channel) -> Bool {
        guard chain.targets.delegations?.all.contains(where: { $0.role == channel.role }) == true else {
            return chain.targets.hasOpaqueNames
        }
        return delegatedRoles.first { $0.document.role == channel.role }?.hasOpaqueNames ?? false
    }

    /// Whether any of its channels has opaque names.
    public var hasOpaqueNames: Bool { chain.channels.contains(where: hasOpaqueNames) }
}
