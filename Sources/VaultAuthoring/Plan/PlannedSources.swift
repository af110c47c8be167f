import PackSources
import SystemPackage
import VaultErrors

/// The sources of a vault: those of its packs, then its resource trees.
struct PlannedSources {
    private let vault: VaultFolder
    private let sources: [(path: FilePath, filter: SourceFilter, followsLinks: Bool)]

    init(of settings: VaultSettings, in vault: VaultFolder) {
        self.vault = vault
        sources =
            settings.packs.map { ($0.source, $0.filter, $0.followsLinks) }
            + settings.resources.map { ($0.source, $0.filter, $0.followsLinks) }
    }

    func open(_ number: Int) throws(VaultError) -> PackSource {
        let (path, filter, followsLinks) = sources[number]
        return try PackSource(
            vault.path.pushing(path), taking: filter, unpackingBeside: vault.site, followLinks: followsLinks)
    }
}
