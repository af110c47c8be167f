import VaultBase
import VaultCrypto

/// Delegation of all paths to 2^n equal roles by the first n bits of their SHA-256 (succinct_roles, TUF section 4.5): each
/// path belongs to one bin, so that a client reads only the bins that it needs.
public struct HashBins: Sendable, Hashable {
    /// The maximum bit length that is read; the specification allows 32.
    static let bitLimit = 14

    public let trust: RoleTrust
    /// From 1 to 14.
    public let bitLength: Int
    public let namePrefix: String

    /// Nil for a length out of range, or a prefix that is not valid in a role's name.
    public init?(bitLength: Int, namePrefix: String, trust: RoleTrust) {
        guard (1...Self.bitLimit).contains(bitLength), MetadataRole(delegated: "\(namePrefix)-0000") != nil
        else { return nil }
        self.trust = trust
        self.bitLength = bitLength
        self.namePrefix = namePrefix
    }

    init(parsing json: JSONObject, keys: JSONObject, place: String) throws(VaultError) {
        let place = "\(place): succinct_roles"
        let trust = try RoleTrust(parsing: json, keys: keys, place: place)
        let bits = try json.integer("bit_length", at: place)
        let prefix = try json.string("name_prefix", at: place)
        guard let bins = HashBins(bitLength: Int(clamping: bits), namePrefix: prefix, trust: trust) else {
            throw .malformedMetadata(
                "can't read bins of \(bits) bits named \"\(prefix.excerpt)\": 1 to \(Self.bitLimit) bits are supported",
                at: place)
        }
        self = bins
    }

    public var count: Int { 1 << bitLength }

    /// The bin of a path.
    public func index(of path: String) -> Int { index(of: TargetPath(path).digest) }

    private func index(of digest: SHA256Digest) -> Int {
        let bytes = digest.bytes
        return (Int(bytes[0]) << 8 | Int(bytes[1])) >> (16 - bitLength)
    }

    /// `<prefix>-<index>`, the index in hexadecimal with as many digits as the last one.
    public func role(at index: Int) -> MetadataRole? {
        let digits = String(index, radix: 16)
        let width = String(count - 1, radix: 16).utf8.count
        let zeros = String(repeating: "0", count: max(0, width - digits.utf8.count))
        return MetadataRole(delegated: "\(namePrefix)-\(zeros)\(digits)")
    }

    func delegation(covering path: TargetPath) -> Delegation? { delegation(at: index(of: path.digest)) }

    /// A bin as a terminating delegation, as in all implementations. Prefixes are empty: the bin was chosen by its index already.
    func delegation(at index: Int) -> Delegation? {
        role(at: index).map { Delegation(to: $0, of: .hashPrefixes([]), trust: trust, isTerminating: true) }
    }

    var json: JSONObject {
        var json = trust.json
        json["bit_length"] = .integer(Int64(bitLength))
        json["name_prefix"] = .string(namePrefix)
        return json
    }
}
