import StrictJSON
public import VaultCrypto
import VaultErrors

/// What timestamp and snapshot say about a metadata file below them (METAFILES, section 4.4).
public struct MetadataReference: Sendable, Hashable {
    public let version: Int64
    /// In bytes, where it is given.
    public let length: UInt64?
    public let sha256: Digest?

    init(version: Int64, length: UInt64?, sha256: Digest?) {
        self.version = version
        self.length = length
        self.sha256 = sha256
    }

    init(parsing value: JSONValue, place: @autoclosure () -> String) throws(VaultError) {
        let object = try value.asObject(at: place())
        version = try object.integer("version", at: place())
        guard version >= 1 else {
            throw .untrusted("its version is \(version), which is below 1", at: place())
        }
        length = try object.optionalLength("length", at: place())
        sha256 = try object.optionalObject("hashes", at: place()).map { hashes throws(VaultError) in
            try hashes.sha256(at: place())
        }
    }

    var json: JSONObject {
        var object: JSONObject = ["version": .integer(version)]
        object["length"] = length.map { .integer(Int64(clamping: $0)) }
        object["hashes"] = sha256.map { ["sha256": .string($0.hex)] }
        return object
    }

    /// Checks a file's length and hash, which needs no signature.
    func check(_ bytes: [UInt8], at place: String) throws(VaultError) {
        if let length, UInt64(bytes.count) != length {
            throw .mixed("it has \(bytes.count) bytes where \(length) are signed for", at: place)
        }
        if let sha256, case let found = SHA256.hash(bytes.span), found != sha256 {
            throw .mixed("its SHA-256 is \(found.hex) where \(sha256.hex) is signed for", at: place)
        }
    }

    /// How many bytes to read at most.
    func limit(for role: TopLevelRole) -> Int {
        min(role.sizeLimit, Int(clamping: length ?? .max))
    }
}

extension JSONObject {
    func version(at place: @autoclosure () -> String) throws(VaultError) -> Int64 {
        let version = try integer("version", at: place())
        guard version >= 1 else {
            throw .untrusted("its version is \(version), which is below 1", at: place())
        }
        return version
    }

    func optionalLength(_ key: String, at place: @autoclosure () -> String) throws(VaultError) -> UInt64? {
        guard let value = try optionalInteger(key, at: place()) else { return nil }
        guard let length = UInt64(exactly: value) else {
            throw .untrusted("the member \"\(key)\" is \(value), which is below 0", at: place())
        }
        return length
    }

    /// The SHA-256 of a HASHES object. Other hashes beside it are left alone.
    func sha256(at place: @autoclosure () -> String) throws(VaultError) -> Digest {
        guard let digest = Digest(hex: try string("sha256", at: place())) else {
            throw .untrusted("a SHA-256 is not 64 lowercase hexadecimal digits", at: place())
        }
        return digest
    }
}
