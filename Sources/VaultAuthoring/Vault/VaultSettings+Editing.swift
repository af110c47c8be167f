public import SealedPack
import StrictJSON
public import SystemPackage
public import VaultErrors
import VaultSite

extension VaultSettings {
    /// Declares a pack, or changes its source.
    public mutating func declare(_ id: PackID, source: FilePath) throws(VaultError) {
        try requireNoPin()
        try change(["packs", id.description], ["source": .string(source.string), "pin": nil])
    }

    /// Lists an earlier version of a pack; nil lists its source again.
    ///
    /// - Parameter highest: no later version may be lower.
    mutating func pin(_ id: PackID, to version: UInt64?, above highest: UInt64) throws(VaultError) {
        try requireNoPin()
        guard let pack = packs.first(where: { $0.id == id }) else {
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
            [
                "pin": version.map { .integer(Self.number($0)) },
                "lastVersion": .integer(Self.number(max(highest, pack.highestPublished))),
            ])
    }

    /// Lists what a resource tree once listed; nil lists its source again.
    mutating func pin(_ tree: ResourceTree, to pin: ListingPin?, above highest: UInt64) throws(VaultError) {
        try requireNoPin()
        try change(
            ["resources", tree.family.description],
            Self.members(pin, above: max(highest, tree.highestPublished)))
    }

    /// Lists what the channel of the sources once listed; nil lists the sources again.
    mutating func pin(to pin: ListingPin?, above highest: UInt64) throws(VaultError) {
        try change([], Self.members(pin, above: max(highest, highestPublished)))
    }

    private static func members(_ pin: ListingPin?, above highest: UInt64) -> KeyValuePairs<
        String, JSONValue?
    > {
        ["pin": pin?.json, "lastVersion": highest > 0 ? .integer(number(highest)) : nil]
    }

    private func requireNoPin() throws(VaultError) {
        guard let pin else { return }
        let channel = structure.sourceChannel
        throw VaultError(
            .usage, "the whole channel '\(channel)' is restored to \(pin.snapshot)",
            at: "vault.json", remedy: "list its sources again first", hint: .releasing(channel.name))
    }

    /// Versions stay within the exact range of JSON numbers.
    private static func number(_ version: UInt64) -> Int64 {
        min(Int64(clamping: version), JSONValue.integerRange.upperBound)
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
