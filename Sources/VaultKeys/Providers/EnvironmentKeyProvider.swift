import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// A JWK or JWK Set in an environment variable, as CI systems inject masked secrets.
///
/// It is read again at each lookup and stays set, so child processes inherit it, and on Linux the user's own processes
/// can read it in `/proc`: prefer `file:`, `dir:` or `fd:`.
public struct EnvironmentKeyProvider: RingKeyProvider {
    private let name: String

    public init(variable name: String) {
        self.name = name
    }

    public func ring() throws(VaultError) -> KeyRing {
        let place = "environment variable \(name)"
        let text = try SecretBytes(ofVariable: name, remedy: "set it to a JWK or JWK Set")
        guard text.count <= KeyRing.byteLimit else { throw .tooLarge(place) }
        return try KeyRing(parsingJWK: text, place: place)
    }
}
