import AssetVault
import Foundation

/// requests SITE ROOT KEYS STORE TAG FILE: prints a file of the packs of a tag, which are downloaded if they are missing. KEYS is a key
/// file, or the URL of a key service, for which the variables below are set.
@main struct Requests {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 7 else { return print("usage: requests SITE ROOT KEYS STORE TAG FILE") }
        do throws(VaultError) {
            let root = FileManager.default.contents(atPath: arguments[2]).map(Array.init)
            let vault = try Vault(
                site: arguments[1], trustedRoot: root, store: FilePath(arguments[4]),
                keys: try keys(arguments[3]))
            let request = vault.request([arguments[5]])
            try await begin(request)
            defer { request.endAccessing() }
            let bytes = try await request.contents(of: EntryPath(arguments[6]))
            print(String(decoding: bytes, as: UTF8.self))
        } catch {
            switch error.category {
            case .key: print("locked: \(error)")  // what was downloaded waits for the right key
            case .unreachable: print("offline: \(error)")
            default: print("failed: \(error)")
            }
            exit(1)
        }
    }

    /// From a service they are kept for starts without the network, under a key that a real app takes from the platform's store.
    static func keys(_ source: String) throws(VaultError) -> any KeyProvider {
        guard source.hasPrefix("https:") else { return FileKeyProvider(path: FilePath(source)) }
        func path(_ variable: String) -> FilePath {
            FilePath(ProcessInfo.processInfo.environment[variable] ?? "")
        }
        let token = try PassphraseSource(parsing: "env:TOKEN", of: "token")
        let service = try ServiceKeyProvider(
            url: source, token: { () throws(VaultError) in try token.secret() },
            certificateAuthorities: CertificateAuthorities(pem: path("KEY_CA")))
        let platformKey = FileManager.default.contents(atPath: path("PLATFORM_KEY").string) ?? Data()
        return try KeptKeys(
            of: service, in: path("KEPT"), wrappedUnder: SecretBytes(copying: Array(platformKey).span))
    }

    /// Access to what is there needs no network. Only what is missing is downloaded, with progress.
    static func begin(_ request: ResourceRequest) async throws(VaultError) {
        if try await request.conditionallyBeginAccessing() { return print("all there") }
        let updates = request.progressUpdates
        let shown = Task { for await update in updates { print("\(Int(update.fraction * 100)) %") } }
        defer { shown.cancel() }
        try await request.beginAccessing()
    }
}
