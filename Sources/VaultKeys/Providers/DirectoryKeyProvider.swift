public import SystemPackage
import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// A folder of secrets: Docker's `/run/secrets`, a Kubernetes secret volume, systemd's
/// `$CREDENTIALS_DIRECTORY`. It is read again at each lookup.
///
/// A file named by a key ID, with or without `.jwk`, `.jwks` or `.json`, contains a JWK or JWK Set. The `kid` of the
/// keys counts, not the name. Other secrets in the folder are skipped: files without a JSON object, or with an object
/// that is not a JWK, unless their names end in `.jwk` or `.jwks`. Modes are not checked, as such folders are protected
/// as a whole; subfolders are not entered.
public struct DirectoryKeyProvider: RingKeyProvider {
    private let folder: SecretFolder

    public init(path: FilePath) {
        folder = SecretFolder(path: path)
    }

    public func ring() throws(VaultError) -> KeyRing {
        try VaultError.aboutKeys { () throws(VaultError) in
            var ring = KeyRing()
            for name in try folder.names() {
                guard let (_, isDeclared) = Self.keyFile(name), let file = try folder.open(name),
                    let found = try Self.keys(in: file, isDeclared: isDeclared)
                else { continue }
                ring.append(found)
            }
            return ring
        }
    }

    private static func keys(in file: borrowing OpenFile, isDeclared: Bool) throws(VaultError) -> KeyRing? {
        if isDeclared {
            return try KeyRing(parsingJWK: SecretBytes(readingAll: file), place: file.path.string)
        }
        guard try file.status().size <= UInt64(KeyRing.byteLimit) else { return nil }
        let text = try SecretBytes(readingAll: file)
        guard text.firstVisibleByte == UInt8(ascii: "{") else { return nil }
        return try KeyRing(ifJWK: text, place: file.path.string)
    }

    /// The key ID of a file that may contain keys, and whether its suffix declares that it does.
    private static func keyFile(_ name: String) -> (id: KeyID, isDeclared: Bool)? {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let stem = parts.first, let id = try? KeyID(stem) else { return nil }
        switch parts.dropFirst().first {
        case nil, "json": return (id, false)
        case "jwk", "jwks": return (id, true)
        default: return nil
        }
    }
}
