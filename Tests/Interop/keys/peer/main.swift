// The other side of test_keys.py: makes a key file, or lists what the given sources yield, without the keys themselves.
//
//     keys-peer keygen FILE
//     keys-peer list SPEC…      one line a key: kind, kid, SHA-256 of the key

import SystemPackage
import VaultBase
import VaultCrypto

func line(_ kind: String, _ id: KeyID, _ secret: borrowing SecretBytes) -> String {
    let digest = secret.withBytes { SHA256.hash($0) }
    return "\(kind) \(id) \(digest.hex)"
}

do throws(VaultError) {
    let arguments = CommandLine.arguments.dropFirst(2)
    switch CommandLine.arguments.dropFirst().first {
    case "keygen":
        for path in arguments { print(try VaultKeyFile.generate(at: FilePath(path))) }
    case "list":
        var providers: [any KeyProvider] = []
        for spec in arguments { providers.append(try KeySpec(parsing: spec).provider()) }
        let ring = try await CombinedKeyProvider(providers).allKeys()
        for key in ring.vaultKeys { print(line("vault", key.id, key.secret)) }
        for key in ring.contentKeys { print(line("content", key.id, key.secret)) }
    default:
        throw VaultError(.usage, "no such task", at: "keys-peer", remedy: "say keygen or list")
    }
} catch {
    print("\(error.category.rawValue): \(error)")
}
