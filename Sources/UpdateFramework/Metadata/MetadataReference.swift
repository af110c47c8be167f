import VaultBase
public import VaultCrypto

/// An entry of the timestamp or snapshot for a metadata file (METAFILES, section 4.4).
public struct MetadataReference: Sendable, Hashable {
    public let version: Int64
    /// In bytes, if given.
    public let length: UInt64?
    public let hashes: FileHashes?

    init(version: Int64, length: UInt64?, hashes: FileHashes?) {
        self.version = version
        self.length = length
        self.hashes = hashes
    }

    /// The entry for a file of this version with these bytes.
    public init(version: Int64, bytes: [UInt8]) {
        self.init(
            version: version, length: UInt64(bytes.count), hashes: FileHashes(sha256: SHA256.hash(bytes.span))
        )
    }

    init(parsing value: JSONValue, place: @autoclosure () -> String) throws(VaultError) {
        let object = try value.asObject(at: place())
        version = try object.version(at: place())
        length = try object.optionalLength("length", at: place())
        hashes = try object.optionalObject("hashes", at: place()).map { hashes throws(VaultError) in
            try FileHashes(parsing: hashes, place: place())
        }
    }

    var json: JSONObject {
        var object: JSONObject = ["version": .integer(version)]
        object["length"] = length.map { .integer(Int64(clamping: $0)) }
        object["hashes"] = hashes.map { .object($0.json) }
        return object
    }

    /// Checks a file's length and hashes, before its signatures.
    func check(_ bytes: [UInt8], at place: String) throws(VaultError) {
        if let length, UInt64(bytes.count) != length {
            throw .inconsistentMetadata(
                "it has \(bytes.count) bytes, but the signed length is \(length)", at: place)
        }
        try hashes?.check(bytes, at: place)
    }

    /// The maximum number of bytes to read.
    func limit(for role: MetadataRole) -> Int {
        min(role.sizeLimit, Int(clamping: length ?? .max))
    }
}

extension JSONObject {
    func version(at place: @autoclosure () -> String) throws(VaultError) -> Int64 {
        let version = try integer("version", at: place())
        guard version >= 1 else {
            throw .malformedMetadata("its version is \(version), which is below 1", at: place())
        }
        return version
    }

    func optionalLength(_ key: String, at place: @autoclosure () -> String) throws(VaultError) -> UInt64? {
        guard let value = try optionalInteger(key, at: place()) else { return nil }
        guard let length = UInt64(exactly: value) else {
            throw .malformedMetadata("the member \"\(key)\" is \(value), which is below 0", at: place())
        }
        return length
    }
}

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
