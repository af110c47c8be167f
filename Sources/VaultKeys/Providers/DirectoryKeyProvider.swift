public import SystemPackage
import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// A folder of secrets: Docker's `/run/secrets`, a Kubernetes secret volume, systemd's
/// `$CREDENTIALS_DIRECTORY`. It is read again at each ask.
///
/// A file named by a key ID, with or without `.jwk`, `.jwks` or `.json`, holds a JWK or JWK Set. What the
/// keys themselves say counts, not the name. Other secrets may stand beside them: a file that is no JSON
/// object, or one about something else, is passed over unless its name ends in `.jwk` or `.jwks`. Modes are
/// not checked, as such folders are guarded as a whole; folders inside are not entered.
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

    /// Whether a name may be that of a key file, and whether it says that it is one.
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
