import StrictJSON
public import VaultCrypto
import VaultErrors

/// The signed digests of a file (HASHES, section 4.4). Unknown algorithms are ignored.
public struct FileHashes: Sendable, Hashable {
    public let sha256: SHA256Digest?
    public let sha512: SHA512Digest?

    public init(sha256: SHA256Digest?, sha512: SHA512Digest? = nil) {
        self.sha256 = sha256
        self.sha512 = sha512
    }

    init(parsing json: JSONObject, place: @autoclosure () -> String) throws(VaultError) {
        guard !json.isEmpty else { throw .malformedMetadata("it has no hash", at: place()) }
        sha256 = try json.optionalString("sha256", at: place()).map { text throws(VaultError) in
            guard let digest = SHA256Digest(hex: text) else {
                throw .malformedMetadata("a SHA-256 is not 64 lowercase hexadecimal digits", at: place())
            }
            return digest
        }
        sha512 = try json.optionalString("sha512", at: place()).map { text throws(VaultError) in
            guard let digest = SHA512Digest(hex: text) else {
                throw .malformedMetadata("a SHA-512 is not 128 lowercase hexadecimal digits", at: place())
            }
            return digest
        }
    }

    var json: JSONObject {
        var object = JSONObject()
        object["sha256"] = sha256.map { .string($0.hex) }
        object["sha512"] = sha512.map { .string($0.hex) }
        return object
    }

    /// The prefix of the file's name at a host with consistent snapshots; nil when no hash is known.
    var name: String? { sha256?.hex ?? sha512?.hex }

    /// Checks every known hash; there must be at least one.
    func check(_ bytes: [UInt8], at place: String) throws(VaultError) {
        guard name != nil else {
            throw .malformedMetadata("it has no hash of a supported algorithm", at: place)
        }
        if let sha256, case let found = SHA256.hash(bytes.span), found != sha256 {
            throw .inconsistentMetadata(
                "its SHA-256 is \(found.hex), but the signed one is \(sha256.hex)", at: place)
        }
        if let sha512, case let found = SHA512.hash(bytes.span), found != sha512 {
            throw .inconsistentMetadata(
                "its SHA-512 is \(found.hex), but the signed one is \(sha512.hex)", at: place)
        }
    }
}
