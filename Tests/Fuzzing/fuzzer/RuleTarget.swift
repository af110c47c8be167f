import Foundation
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto

/// Reads any bytes as the settings of a vault with some files, and plans its packs; the bytes after a zero are
/// `.assetvault.json` in a folder of it.
struct RuleTarget: FuzzTarget {
    private static let files = [
        "a.txt", "levels/1/map.json", "levels/1/sky@2x.png", "levels/2/sky.png", "music/é.ogg",
        "music/e\u{301}/x.ogg",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "empty/.keep",
    ]
    private let assets: URL
    private let vault: URL

    init() {
        let folder = URL.scratch(named: "rules")
        (assets, vault) = (folder.appending(path: "assets"), folder.appending(path: "vault"))
        do {
            for file in Self.files {
                let path = assets.appending(path: file)
                try FileManager.default.createDirectory(
                    at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(file.utf8).write(to: path)
            }
        } catch { fatalError("the fuzzer can't begin: \(error)") }
        wait { [vault] in
            do { try await VaultFolder(FilePath(vault.path)).create(now: .now) } catch {
                fatalError("the fuzzer can't begin: \(error)")
            }
        }
    }

    func read(_ input: [UInt8]) {
        let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let labels = assets.appending(path: "levels/.assetvault.json")
        do {
            try Data(parts[0]).write(to: vault.appending(path: "vault.json"))
            try? FileManager.default.removeItem(at: labels)
            if parts.count > 1 { try Data(parts[1]).write(to: labels) }
        } catch { fatalError("the fuzzer can't write: \(error)") }
        let folder = VaultFolder(FilePath(vault.path))
        wait {
            guard let plan = try? await ContentPlan(of: folder, keys: InMemoryKeyProvider(KeyRing())) else {
                return
            }
            for pack in plan.packs {
                require(pack.entryCount <= Self.files.count + 1, "no file is in a pack twice")
            }
        }
    }
}
