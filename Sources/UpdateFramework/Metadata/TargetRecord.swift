public import VaultBase
public import VaultCrypto

/// The signed entry of a targets role for one file (TUF section 4.5).
public struct TargetRecord: Sendable, Hashable {
    /// Relative to the site's folder of targets. Compare it by UTF-8 bytes, not with `==`.
    public let path: String
    /// In bytes.
    public let length: UInt64
    public let hashes: FileHashes
    /// The whole target object, members unknown to this library included.
    public let json: JSONObject
    /// Who answers for it: the top-level targets, or the role that they delegate to and by which a search found it. Nil for a record
    /// that no metadata lists. It counts for nothing where records are compared.
    public var signer: MetadataRole?

    /// The application-specific part.
    public var custom: JSONObject? {
        guard case .object(let custom)? = json["custom"] else { return nil }
        return custom
    }

    public init(path: String, length: UInt64, sha256: SHA256Digest, custom: JSONObject? = nil) {
        self.path = path
        self.length = length
        hashes = FileHashes(sha256: sha256)
        var json: JSONObject = ["length": .integer(Int64(clamping: length)), "hashes": .object(hashes.json)]
        json["custom"] = custom.map { .object($0) }
        self.json = json
    }

    /// Parses a target object, such as a stored ``json``.
    ///
    /// - Throws: `untrusted` unless it has a length and hashes, and `custom`, if present, is an object.
    public init(path: String, json: JSONObject) throws(VaultError) {
        var place: String { "target \(path.excerpt)" }
        do throws(VaultError) {
            guard let length = try json.optionalLength("length", at: place) else {
                throw .malformedMetadata("the member \"length\" is missing", at: place)
            }
            _ = try json.optionalObject("custom", at: place)
            self.length = length
            hashes = try FileHashes(parsing: try json.object("hashes", at: place), place: place)
        } catch {
            throw error.asUntrusted
        }
        self.path = path
        self.json = json
    }

    /// The file's path at a host with consistent snapshots: `<folders>/<hash>.<name>` (TUF section 6.2.1).
    public var hostedPath: String {
        guard let hash = hashes.name else { return path }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "\(hash).\(path)" }
        let name = path.utf8.index(after: slash)
        return "\(path[..<name])\(hash).\(path[name...])"
    }

    /// Checks a whole file: its length and every supported hash, of which there must be at least one.
    public func check(_ bytes: [UInt8]) throws(VaultError) {
        let place = "target \(path.excerpt)"
        guard UInt64(bytes.count) == length else {
            throw .inconsistentMetadata(
                "it has \(bytes.count) bytes, but the signed length is \(length)", at: place)
        }
        try hashes.check(bytes, at: place)
    }

    public static func == (left: TargetRecord, right: TargetRecord) -> Bool {
        left.path.utf8.elementsEqual(right.path.utf8) && left.json == right.json
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(json)
    }
}
