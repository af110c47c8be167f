import SealedPack
import VaultErrors

/// Whether the files of packs can be linked.
extension VaultStore {
    /// Throws `.usage` where some of the packs are kept sealed: updates stay so.
    func requireOpened(_ ids: [PackID]) throws(VaultError) {
        try refuse(sealed: ids.filter { (try? storeAccess.records.record(of: $0))?.loaded?.form == .sealed })
    }

    /// How many packs an error names.
    private static let namedPacks = 8

    /// Names for people, of many only the first ones.
    package func list(_ ids: [PackID]) -> String {
        let names = ids.prefix(Self.namedPacks).map { (name(of: $0) ?? $0).description }
        let rest = ids.count - names.count
        return names.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    /// Throws `.usage` where there is one.
    func refuse(sealed ids: [PackID]) throws(VaultError) {
        guard !ids.isEmpty else { return }
        let names = ids.prefix(Self.namedPacks).map { (name(of: $0) ?? $0).description }
        throw VaultError(
            .usage, "kept sealed, so that programs can't read files by their names", at: list(ids),
            remedy: "read single files with 'assetvault cat', or open the packs",
            hint: .openingPacks(names, store: layout.options))
    }
}

extension StoreLayout {
    /// The options of the command that name it.
    fileprivate var options: [String] {
        let root = shared.removingLastComponent()
        var options = ["--store", root.string]
        guard self != StoreLayout(root: root) else { return options }
        options += ["--ephemeral", ephemeral.string, "--shared", shared.string]
        return options + ["--permanent", permanent.string]
    }
}
