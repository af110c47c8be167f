import ArgumentParser
import AssetVault
import SystemPackage
import VaultFileSystem

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
