public import SystemPackage
import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// A JWK or JWK Set in a file that only its owner may read. It is read again at each lookup, so that keys can be
/// replaced while the program runs.
///
/// With mode 0600 or stricter only the owner and the administrator can read it, so the owner is not checked.
public struct FileKeyProvider: RingKeyProvider {
    private let path: FilePath

    public init(path: FilePath) {
        self.path = path
    }

    public func ring() throws(VaultError) -> KeyRing {
        let text = try VaultError.aboutKeys { () throws(VaultError) in
            let file = try OpenFile(reading: path)
            guard try file.status().permissions & 0o077 == 0 else {
                throw VaultError(
                    .key, "the key file can be read by others", at: path.string,
                    remedy: "run: chmod 600 \(path)")
            }
            return try SecretBytes(readingAll: file)
        }
        return try KeyRing(parsingJWK: text, place: path.string)
    }
}
