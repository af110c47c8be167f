import PackSources
import SystemPackage
import VaultErrors

/// The sources of a vault: those of its packs, then its resource trees.
struct PlannedSources {
    private let vault: VaultFolder
    private let sources: [(path: FilePath, filter: SourceFilter, followsLinks: Bool)]
    private let limit: UnpackingLimit

    /// - Parameter limit: how much an archive may unpack to.
    init(of settings: VaultSettings, in vault: VaultFolder, limit: UnpackingLimit = .standard) {
        (self.vault, self.limit) = (vault, limit)
        sources =
            settings.packs.map { ($0.source, $0.filter, $0.followsLinks) }
            + settings.resources.map { ($0.source, $0.filter, $0.followsLinks) }
    }

    func open(_ number: Int) throws(VaultError) -> PackSource {
        try open(number, taking: sources[number].filter)
    }

    /// With all its files.
    func openWhole(_ number: Int) throws(VaultError) -> PackSource { try open(number, taking: .all) }

    private func open(_ number: Int, taking filter: SourceFilter) throws(VaultError) -> PackSource {
        try PackSource(
            vault.path.pushing(sources[number].path), taking: filter, unpackingBeside: vault.site,
            followLinks: sources[number].followsLinks, limit: limit)
    }
}
