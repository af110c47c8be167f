public import StrictJSON
import VaultErrors

/// A delegated role: for which paths, and whose signatures count (TUF section 4.5).
public struct Delegation: Sendable, Hashable {
    /// The paths of a delegation.
    public enum Scope: Sendable, Hashable {
        /// Patterns with `*` and `?`, which don't match a slash.
        case paths([String])
        /// Prefixes of the lowercase hexadecimal SHA-256 of the path.
        case hashPrefixes([String])
    }

    public let role: MetadataRole
    public let trust: RoleTrust
    public let scope: Scope
    /// Whether the search for a matching path ends here.
    public let isTerminating: Bool
    /// Further members of the role object, whose names begin with `x-`; other TUF clients ignore them.
    public let members: JSONObject
    private let patterns: [PathPattern]

    private static let memberPrefix = "x-"

    public init(
        to role: MetadataRole, of scope: Scope, trust: RoleTrust, isTerminating: Bool = false,
        members: JSONObject = [:]
    ) {
        self.role = role
        self.trust = trust
        self.scope = scope
        self.isTerminating = isTerminating
        self.members = members
        patterns = if case .paths(let paths) = scope { paths.map { PathPattern($0) } } else { [] }
    }

    init(parsing json: JSONObject, keys: JSONObject, place: String) throws(VaultError) {
        let name = try json.string("name", at: place)
        let place = "\(place): role \(name.excerpt)"
        guard let role = MetadataRole(delegated: name) else {
            throw .malformedMetadata("a delegated role can't have this name", at: place)
        }
        let paths = try json.optionalArray("paths", at: place)
        let prefixes = try json.optionalArray("path_hash_prefixes", at: place)
        let scope: Scope
        switch (paths, prefixes) {
        case (let paths?, nil): scope = .paths(try Self.strings(paths, place))
        case (nil, let prefixes?): scope = .hashPrefixes(try Self.strings(prefixes, place))
        default:
            throw .malformedMetadata(
                "it needs one of the members \"paths\" and \"path_hash_prefixes\", not both", at: place)
        }
        self.init(
            to: role, of: scope, trust: try RoleTrust(parsing: json, keys: keys, place: place),
            isTerminating: try json.bool("terminating", at: place),
            members: JSONObject(lastWins: json.filter { $0.0.hasPrefix(Self.memberPrefix) }))
    }

    private static func strings(_ values: [JSONValue], _ place: String) throws(VaultError) -> [String] {
        try values.map { value throws(VaultError) in try value.asString(at: place) }
    }

    /// Whether a path is delegated to this role.
    public func covers(_ path: String) -> Bool { covers(TargetPath(path)) }

    func covers(_ path: TargetPath) -> Bool {
        switch scope {
        case .paths: patterns.contains { $0.matches(path.text) }
        case .hashPrefixes(let prefixes): prefixes.contains { path.hexDigest.utf8.starts(with: $0.utf8) }
        }
    }

    var json: JSONObject {
        var json = trust.json
        for (name, value) in members { json[name] = value }
        json["name"] = .string(role.name)
        json["terminating"] = .bool(isTerminating)
        switch scope {
        case .paths(let paths): json["paths"] = .array(paths.map { .string($0) })
        case .hashPrefixes(let prefixes):
            json["path_hash_prefixes"] = .array(prefixes.map { .string($0) })
        }
        return json
    }
}
