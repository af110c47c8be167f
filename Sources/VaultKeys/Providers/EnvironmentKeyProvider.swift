import Glibc
import VaultCrypto
public import VaultErrors

/// A JWK or JWK Set in an environment variable, as CI systems inject masked secrets.
///
/// The variable is read at each ask and left as it is, so child processes inherit it, and on Linux the user's
/// own processes can read it in `/proc`: prefer `file:`, `dir:` or `fd:` where there is a choice.
public struct EnvironmentKeyProvider: KeyProvider {
    private let name: String

    public init(variable name: String) {
        self.name = name
    }

    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try ring().keys(for: id)
    }

    public func allKeys() async throws(VaultError) -> KeyRing {
        try ring()
    }

    private func ring() throws(VaultError) -> KeyRing {
        let place = "environment variable \(name)"
        guard let text = value(), text.count > 0 else {
            throw VaultError(.key, "is not set", at: place, remedy: "set it to a JWK or JWK Set")
        }
        guard text.count <= KeyRing.byteLimit else { throw .tooLarge(place) }
        return try KeyRing(parsingJWK: text, place: place)
    }

    /// Copied straight from the environment, without a `String` between.
    private func value() -> SecretBytes? {
        guard let start = unsafe getenv(name) else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: strlen(start))
        return unsafe SecretBytes(copying: bytes.bindMemory(to: UInt8.self).span)
    }
}
