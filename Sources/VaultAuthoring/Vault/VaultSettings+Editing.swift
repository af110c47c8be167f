public import SealedPack
import StrictJSON
public import SystemPackage
public import VaultErrors

extension VaultSettings {
    /// Declares a pack, or changes its source.
    public mutating func declare(_ id: PackID, source: FilePath) throws(VaultError) {
        try change(id, ["source": .string(source.string), "pin": nil])
    }

    /// Lists an earlier version of a pack; nil lists its source again.
    ///
    /// - Parameter highest: no later version may be lower.
    mutating func pin(_ id: PackID, to version: UInt64?, above highest: UInt64) throws(VaultError) {
        guard let pack = packs.first(where: { $0.id == id }) else {
            if let tree = resources.first(where: { id.isMember(of: $0.family) }) {
                throw VaultError(
                    .usage,
                    "'\(id)' is a part of the resource tree '\(tree.family)', whose packs share files",
                    at: "vault.json", remedy: "put the tree's earlier files into its source, and publish")
            }
            throw VaultError(
                .missing, "the vault declares no pack '\(id)'", at: "vault.json",
                remedy: packs.isEmpty
                    ? "declare one" : "choose among \(packs.map(\.id.description).joined(separator: ", "))")
        }
        try change(
            id,
            [
                "pin": version.map { .integer(Self.number($0)) },
                "lastVersion": .integer(Self.number(max(highest, pack.highestPublished))),
            ])
    }

    /// Versions stay within the exact range of JSON numbers.
    private static func number(_ version: UInt64) -> Int64 {
        min(Int64(clamping: version), JSONValue.integerRange.upperBound)
    }

    /// Sets members of a pack's declaration; nil removes one.
    private mutating func change(
        _ id: PackID, _ members: KeyValuePairs<String, JSONValue?>
    ) throws(VaultError) {
        let id = id.description
        var wanted = try text.located.object()
        var table = try text.located["packs"]?.object() ?? [:]
        var entry: JSONObject = [:]
        if case .object(let declared)? = table[id] { entry = declared }
        var edited = text
        for (key, value) in members {
            entry[key] = value
            edited = try edited.setting(["packs", id, key], to: value)
        }
        table[id] = .object(entry)
        wanted["packs"] = .object(table)
        // The text must parse to exactly the wanted value.
        guard edited.value == .object(wanted) else {
            throw text.located.error(
                .corrupt, "the declaration of '\(id)' could not be changed in it", remedy: "edit it by hand")
        }
        try adopt(edited)
    }
}
