import StrictJSON
public import VaultCrypto
import VaultErrors

/// The digests that are signed for a file (HASHES, section 4.4). Algorithms that this library does not know are left out.
public struct FileHashes: Sendable, Hashable {
    public let sha256: SHA256Digest?
    public let sha512: SHA512Digest?

    public init(sha256: SHA256Digest?, sha512: SHA512Digest? = nil) {
        self.sha256 = sha256
        self.sha512 = sha512
    }

    init(parsing json: JSONObject, place: @autoclosure () -> String) throws(VaultError) {
        guard !json.isEmpty else { throw .untrusted("it has no hash", at: place()) }
        sha256 = try json.optionalString("sha256", at: place()).map { text throws(VaultError) in
            guard let digest = SHA256Digest(hex: text) else {
                throw .untrusted("a SHA-256 is not 64 lowercase hexadecimal digits", at: place())
            }
            return digest
        }
        sha512 = try json.optionalString("sha512", at: place()).map { text throws(VaultError) in
            guard let digest = SHA512Digest(hex: text) else {
                throw .untrusted("a SHA-512 is not 128 lowercase hexadecimal digits", at: place())
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

    /// What a file is called by at a host that keeps consistent snapshots; nil where no hash is known.
    var name: String? { sha256?.hex ?? sha512?.hex }

    /// Checks every known hash; there must be one.
    func check(_ bytes: [UInt8], at place: String) throws(VaultError) {
        guard name != nil else { throw .untrusted("no hash of it is of a known kind", at: place) }
        if let sha256, case let found = SHA256.hash(bytes.span), found != sha256 {
            throw .mixed("its SHA-256 is \(found.hex) where \(sha256.hex) is signed for", at: place)
        }
        if let sha512, case let found = SHA512.hash(bytes.span), found != sha512 {
            throw .mixed("its SHA-512 is \(found.hex) where \(sha512.hex) is signed for", at: place)
        }
    }
}
