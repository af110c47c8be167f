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
        ids.lazy.map { self.shownID(of: $0).description }.listed(upTo: Self.namedPacks)
    }

    /// Throws `.usage` where there is one.
    func refuse(sealed ids: [PackID]) throws(VaultError) {
        guard !ids.isEmpty else { return }
        throw VaultError(
            .usage, "kept sealed, so that programs can't read files by their names", at: list(ids),
            remedy: "read single files with 'assetvault cat', or open the packs",
            hint: .openingPacks(
                ids.prefix(Self.namedPacks).map { shownID(of: $0).description }, store: layout.options))
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
