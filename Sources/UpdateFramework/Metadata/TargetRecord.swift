public import StrictJSON
public import VaultCrypto
public import VaultErrors

/// What the targets role signs for one file (section 4.5).
public struct TargetRecord: Sendable, Hashable {
    /// Relative to the site's folder of targets. Compare it by its UTF-8 bytes, never with `==`.
    public let path: String
    /// In bytes.
    public let length: UInt64
    public let sha256: Digest
    /// The whole target object, members unknown to this library included.
    public let json: JSONObject

    /// The application's own part.
    public var custom: JSONObject? {
        guard case .object(let custom)? = json["custom"] else { return nil }
        return custom
    }

    public init(path: String, length: UInt64, sha256: Digest, custom: JSONObject? = nil) {
        self.path = path
        self.length = length
        self.sha256 = sha256
        var json: JSONObject = [
            "length": .integer(Int64(clamping: length)), "hashes": ["sha256": .string(sha256.hex)],
        ]
        json["custom"] = custom.map { .object($0) }
        self.json = json
    }

    /// Reads a target object, such as one out of ``json`` that was stored.
    ///
    /// - Throws: ``VaultErrors/VaultError`` of category `untrusted` unless it has a length, a SHA-256, and for
    ///   `custom` an object if anything.
    public init(path: String, json: JSONObject) throws(VaultError) {
        var place: String { "target \(path.beginning)" }
        do throws(VaultError) {
            guard let length = try json.optionalLength("length", at: place) else {
                throw .untrusted("the member \"length\" is missing", at: place)
            }
            _ = try json.optionalObject("custom", at: place)
            self.length = length
            sha256 = try json.object("hashes", at: place).sha256(at: place)
        } catch {
            throw error.asUntrusted
        }
        self.path = path
        self.json = json
    }

    /// The file's path at a host that keeps consistent snapshots: `<folders>/<sha256>.<name>` (section 6.2.1).
    public var hostedPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "\(sha256.hex).\(path)" }
        let name = path.utf8.index(after: slash)
        return "\(path[..<name])\(sha256.hex).\(path[name...])"
    }

    public static func == (left: TargetRecord, right: TargetRecord) -> Bool {
        left.path.utf8.elementsEqual(right.path.utf8) && left.json == right.json
    }
}
