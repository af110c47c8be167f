import AssetVault
import Foundation

/// embedded SITE ROOT STORE PACK FILE: prints a file of a pack, opened with the key that was built in.
@main struct Embedded {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 6 else { return print("usage: embedded SITE ROOT STORE PACK FILE") }
        do throws(VaultError) {
            let root = FileManager.default.contents(atPath: arguments[2]).map(Array.init)
            let vault = try Vault(
                site: arguments[1], trustedRoot: root, store: FilePath(arguments[3]),
                keys: EmbeddedKeys.game)
            let report = try await vault.update()
            try report.requireKeys()
            print(String(decoding: try await vault[arguments[4]].bytes(arguments[5]), as: UTF8.self))
        } catch {
            print(error.category == .key ? "locked: \(error)" : "failed: \(error)")
            exit(1)
        }
    }
}
