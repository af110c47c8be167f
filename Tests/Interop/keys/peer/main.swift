// The other side of test_keys.py: makes a key file, or lists what the given sources yield, without the keys themselves.
//
//     keys-peer keygen FILE [ITERATIONS]
//     keys-peer list SPEC…      one line a key: kind, kid, SHA-256 of the key
//
// KEYS_PASSPHRASE is the passphrase of encrypted files; without it none is encrypted.

import Foundation
import SystemPackage
import VaultBase
import VaultCrypto

func line(_ kind: String, _ id: KeyID, _ secret: borrowing SecretBytes) -> String {
    let digest = secret.withBytes { SHA256.hash($0) }
    return "\(kind) \(id) \(digest.hex)"
}

let passphrase =
    ProcessInfo.processInfo.environment["KEYS_PASSPHRASE"] == nil
    ? nil : try PassphraseSource(parsing: "env:KEYS_PASSPHRASE")

do throws(VaultError) {
    let arguments = CommandLine.arguments.dropFirst(2)
    switch CommandLine.arguments.dropFirst().first {
    case "keygen":
        let path = FilePath(arguments.first ?? "")
        if let iterations = arguments.dropFirst().first.flatMap({ Int($0) }) {
            let key = try VaultKey.generate()
            try VaultKeyFile.write(
                KeyRing(vaultKeys: [key]), to: path, passphrase: passphrase, iterations: iterations)
            print(key.id)
        } else {
            print(try VaultKeyFile.generate(at: path, passphrase: passphrase))
        }
    case "list":
        var providers: [any KeyProvider] = []
        for spec in arguments {
            providers.append(try KeySpec(parsing: spec).provider(passphrase: passphrase))
        }
        let ring = try await CombinedKeyProvider(providers).allKeys()
        for key in ring.vaultKeys { print(line("vault", key.id, key.secret)) }
        for key in ring.contentKeys { print(line("content", key.id, key.secret)) }
    default:
        throw VaultError(.usage, "no such task", at: "keys-peer", remedy: "say keygen or list")
    }
} catch {
    print("\(error.category.rawValue): \(error)")
}
