public import SealedPack
public import SystemPackage
public import VaultBase
import VaultSite

extension VaultSettings {
    /// Declares a pack, or changes its source.
    public mutating func declare(_ id: PackID, source: FilePath) throws(VaultError) {
        try requireNoPin()
        try change(["packs", id.description], ["source": .string(source.string), "pin": nil])
    }

    /// Sets `pin`: the next publication lists this version of a pack. Nil removes it.
    mutating func pin(_ id: PackID, to version: UInt64?) throws(VaultError) {
        try requireNoPin()
        guard packs.contains(where: { $0.id == id }) else {
            if let tree = resources.first(where: { id.isMember(of: $0.family) }) {
                throw VaultError(
                    .usage,
                    "'\(id)' is a part of the resource tree '\(tree.family)', whose packs share files",
                    at: "vault.json", remedy: "restore '\(tree.family)'")
            }
            throw VaultError(
                .missing, "the vault declares no pack '\(id)'", at: "vault.json",
                remedy: packs.isEmpty
                    ? "declare one" : "choose among \(packs.map(\.id.description).joined(separator: ", "))")
        }
        try change(
            ["packs", id.description],
            // Within the exact range of JSON numbers; the publication names the versions that are kept.
            ["pin": version.map { .integer(min(Int64(clamping: $0), JSONValue.integerRange.upperBound)) }])
    }

    /// The same for a resource tree.
    mutating func pin(_ tree: ResourceTree, to pin: ListingPin?) throws(VaultError) {
        try requireNoPin()
        try change(["resources", tree.family.description], ["pin": pin?.json])
    }

    /// The same for all that the channel of the sources listed.
    mutating func pin(to pin: ListingPin?) throws(VaultError) {
        try change([], ["pin": pin?.json])
    }

    /// Removes `held` of a pack or a resource tree: the next publication seals it for all its audiences.
    mutating func removeHold(of id: PackID) throws(VaultError) {
        let list = packs.contains { $0.id == id } ? "packs" : "resources"
        try change([list, id.description], ["held": nil])
    }

    /// Declares an audience whose keys are in a file.
    mutating func declareAudience(_ name: String, file: FilePath) throws(VaultError) {
        try change(["audiences"], [name: .string("file:\(file)")])
    }

    /// Sets which keys packs are sealed for beside those that replace them.
    mutating func setReplacedKeys(_ keys: [ReplacedKey]) throws(VaultError) {
        try change([], ["replacedKeys": keys.isEmpty ? nil : .array(keys.map(\.json))])
    }

    private func requireNoPin() throws(VaultError) {
        guard let pin else { return }
        let channel = structure.sourceChannel
        throw VaultError(
            .usage, "the whole channel '\(channel)' is restored to \(pin.snapshot)",
            at: "vault.json", remedy: "list its sources again first", hint: .releasing(channel.name))
    }

    /// Sets members of the object at a path; nil removes one.
    private mutating func change(
        _ path: [String], _ members: KeyValuePairs<String, JSONValue?>
    ) throws(VaultError) {
        var wanted = JSONValue.object(try text.located.object())
        var edited = text
        for (key, value) in members {
            wanted = Self.setting(path[...] + [key], of: wanted, to: value)
            edited = try edited.setting(path + [key], to: value)
        }
        // The text must parse to exactly the wanted value.
        guard edited.value == wanted else {
            throw text.located.error(
                .corrupt,
                "\(path.last.map { "the declaration of '\($0)'" } ?? "what it pins") could not be changed in it",
                remedy: "edit it by hand")
        }
        try adopt(edited)
    }

    /// Missing objects of the path are added.
    private static func setting(
        _ path: ArraySlice<String>, of json: JSONValue?, to value: JSONValue?
    ) -> JSONValue {
        var object: JSONObject = [:]
        if case .object(let present)? = json { object = present }
        if let key = path.first {
            object[key] =
                path.count == 1 ? value : setting(path.dropFirst(), of: object[key], to: value)
        }
        return .object(object)
    }
}
