import SystemPackage
import VaultErrors
import VaultFileSystem

extension VaultSettings {
    /// Throws `.missing` for a source that does not exist, before anything is sealed.
    func requireSources(in vault: VaultFolder) throws(VaultError) {
        guard pin == nil else { return }
        let sources =
            packs.filter { $0.pin == nil }.map { ($0.id, $0.source) }
            + resources.filter { $0.pin == nil }.map { ($0.family, $0.source) }
        for (id, source) in sources {
            let source = vault.path.pushing(source)
            guard try FileSystem.status(of: source, followingLinks: true) == nil else { continue }
            throw VaultError(
                .missing, "the source of '\(id)' does not exist", at: source.string,
                remedy: "correct its \"source\" in \(vault.settings.string)")
        }
    }
}
