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
        let text = try SecretBytes(ofPrivateFile: path, "the key file")
        return try KeyRing(parsingJWK: text, place: path.string)
    }
}
