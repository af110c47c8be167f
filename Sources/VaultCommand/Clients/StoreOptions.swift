import ArgumentParser
import AssetVault
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Where a client keeps things.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Holds ephemeral/, shared/ and permanent/.", valueName: "dir"))
    var store: String

    @Option(help: ArgumentHelp("Downloads under way, if elsewhere.", valueName: "dir"))
    var ephemeral: String?

    @Option(help: ArgumentHelp("Verified packs and state, if elsewhere.", valueName: "dir"))
    var shared: String?

    @Option(help: ArgumentHelp("Packs ready for use, if elsewhere.", valueName: "dir"))
    var permanent: String?

    var layout: StoreLayout {
        var layout = StoreLayout(root: FilePath(store))
        if let ephemeral { layout.ephemeral = FilePath(ephemeral) }
        if let shared { layout.shared = FilePath(shared) }
        if let permanent { layout.permanent = FilePath(permanent) }
        return layout
    }

    /// The same, for what makes no store. Throws `.missing` where there is none.
    func existingLayout() throws(VaultError) -> StoreLayout {
        let layout = layout
        guard try FileSystem.status(of: layout.shared, followingLinks: true)?.kind == .folder else {
            throw VaultError(
                .missing, "no store is there", at: layout.shared.string,
                remedy: "check --store; 'fetch' and 'downloader' make one")
        }
        return layout
    }
}
