import SealedPack
import VaultErrors

/// Whether the files of packs can be linked.
extension VaultStore {
    /// Throws `.usage` where one of the packs is kept sealed: updates stay so.
    func requireOpened(_ ids: [PackID]) throws(VaultError) {
        for id in ids where (try? storeAccess.records.record(of: id))?.loaded?.form == .sealed {
            throw keptSealed(id)
        }
    }

    func keptSealed(_ id: PackID) -> VaultError {
        let name = name(of: id) ?? id
        return VaultError(
            .usage, "the pack is kept sealed, and programs can't read its files by their names",
            at: name.description,
            remedy: "open it with 'assetvault unlock \(name) --opened', or read it with 'assetvault cat'")
    }
}
