import ArgumentParser
import AssetVault
import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// The areas of a store.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Holds ephemeral/, shared/ and permanent/.", valueName: "dir"),
        completion: .directory)
    var store: String

    @OptionGroup var areas: AreaOptions

    var layout: StoreLayout { areas.layout(below: store) }

    func packs(_ names: [String]) throws(VaultError) -> [PackID] {
        try names.map { name throws(VaultError) in try PackID(name) }
    }

    /// Runs an operation on named packs; the error for an unknown ID suggests the nearest one.
    func suggestingNames<Value>(
        for ids: [String], _ work: () async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        do throws(VaultError) { return try await work() } catch {
            throw await error.suggesting(for: ids) { () throws(VaultError) in
                try await VaultStore(layout).status().map(\.id)
            }
        }
    }

    /// The layout of an existing store. Throws `.missing` where there is none.
    func existingLayout() throws(VaultError) -> StoreLayout {
        try requireFolder(among: [layout.shared])
        return layout
    }

    /// The same, also for a store without any pack yet.
    func existingOrEmptyLayout() throws(VaultError) -> StoreLayout {
        try requireFolder(among: [layout.shared, FilePath(store)])
        return layout
    }

    private func requireFolder(among paths: [FilePath]) throws(VaultError) {
        for path in paths where try FileSystem.status(of: path, followingLinks: true)?.kind == .folder {
            return
        }
        throw VaultError(
            .missing, "no store is there", at: layout.shared.string,
            remedy: "check --store; 'fetch' and 'downloader' make one")
    }
}

/// The areas of a store that are not below its folder.
struct AreaOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Downloads under way, if elsewhere.", valueName: "dir"), completion: .directory)
    var ephemeral: String?

    @Option(
        help: ArgumentHelp("Verified packs and state, if elsewhere.", valueName: "dir"),
        completion: .directory)
    var shared: String?

    @Option(
        help: ArgumentHelp("Packs ready for use, if elsewhere.", valueName: "dir"), completion: .directory)
    var permanent: String?

    func layout(below store: String) -> StoreLayout {
        var layout = StoreLayout(root: FilePath(store))
        if let ephemeral { layout.ephemeral = FilePath(ephemeral) }
        if let shared { layout.shared = FilePath(shared) }
        if let permanent { layout.permanent = FilePath(permanent) }
        return layout
    }
}

extension CompletionKind {
    /// The IDs of the packs in the store that `--store` names.
    static var packsOfStore: CompletionKind {
        .custom { words, _, _ in
            guard let store = folder(named: "--store", in: words) else { return [] }
            var layout = StoreLayout(root: FilePath(store))
            if let shared = folder(named: "--shared", in: words) { layout.shared = FilePath(shared) }
            let packs = try? await VaultStore(layout).status()
            return (packs ?? []).map(\.id.description)
        }
    }

    /// The words are as they were typed: quoted, or with a `~` for the home folder.
    private static func folder(named option: String, in words: [String]) -> String? {
        var value: String?
        for (index, word) in words.enumerated() {
            if word == option, index + 1 < words.count { value = words[index + 1] }
            if word.hasPrefix("\(option)=") { value = String(word.dropFirst(option.count + 1)) }
        }
        guard let path = value?.filter({ !"\"'\\".contains($0) }) else { return nil }
        guard path.hasPrefix("~/"), let home = ProcessEnvironment.text(of: "HOME") else { return path }
        return home + path.dropFirst()
    }
}
