public import VaultBase
import VaultCrypto

/// A delegated role: its paths and its keys (TUF section 4.5).
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

/// The delegations of a targets role (DELEGATIONS, TUF section 4.5).
public enum Delegations: Sendable, Hashable {
    /// In search order.
    case roles([Delegation])
    case bins(HashBins)

    init(parsing json: JSONObject, place: String) throws(VaultError) {
        let place = "\(place): delegations"
        let keys = try json.object("keys", at: place)
        let roles = try json.optionalArray("roles", at: place)
        let bins = try json.optionalObject("succinct_roles", at: place)
        switch (roles, bins) {
        case (let roles?, nil):
            var known: [String: MetadataRole] = [:]
            self = .roles(
                try roles.map { value throws(VaultError) in
                    let role = try Delegation(
                        parsing: try value.asObject(at: place), keys: keys, place: place)
                    if let other = known.updateValue(role.role, forKey: role.role.caselessFileName) {
                        throw .malformedMetadata(
                            other == role.role
                                ? "the role \(other) is delegated to twice"
                                : "the roles \(other) and \(role.role) differ only in case, and would share one file on some disks",
                            at: place)
                    }
                    return role
                })
        case (nil, let bins?): self = .bins(try HashBins(parsing: bins, keys: keys, place: place))
        default:
            throw .malformedMetadata(
                "it needs one of the members \"roles\" and \"succinct_roles\", not both", at: place)
        }
    }

    /// The delegations to search for a path, in order, up to a terminating one.
    func covering(_ path: TargetPath) -> [Delegation] {
        switch self {
        case .roles(let roles):
            let matching = roles.filter { $0.covers(path) }
            guard let end = matching.firstIndex(where: \.isTerminating) else { return matching }
            return Array(matching[...end])
        case .bins(let bins): return bins.delegation(covering: path).map { [$0] } ?? []
        }
    }

    public var all: [Delegation] {
        switch self {
        case .roles(let roles): roles
        case .bins(let bins): (0..<bins.count).compactMap { bins.delegation(at: $0) }
        }
    }

    /// One delegation for each statement of keys: bins share theirs, and are represented by the first.
    public var byKeys: [Delegation] {
        switch self {
        case .roles(let roles): roles
        case .bins(let bins): bins.delegation(at: 0).map { [$0] } ?? []
        }
    }

    var json: JSONObject {
        switch self {
        case .roles(let roles):
            [
                "keys": .object(JSONObject(keysOf: roles.map(\.trust))),
                "roles": .array(roles.map { .object($0.json) }),
            ]
        case .bins(let bins):
            [
                "keys": .object(JSONObject(keysOf: [bins.trust])), "succinct_roles": .object(bins.json),
            ]
        }
    }
}

extension JSONObject {
    /// The key objects of the roles, by key ID.
    init(keysOf roles: some Sequence<RoleTrust>) {
        self.init()
        for role in roles {
            for key in role.keys { self[key.id.description] = .object(key.json) }
        }
    }
}

/// A role to visit, and its delegator.
struct DelegationStep: Sendable, Hashable {
    let delegation: Delegation
    let delegator: MetadataRole

    /// Hashes the names only, which is fast; equality includes the keys.
    func hash(into hasher: inout Hasher) {
        hasher.combine(delegation.role)
        hasher.combine(delegator)
    }
}

extension VerifiedTargets {
    /// The roles that it delegates to.
    var delegationSteps: [DelegationStep] {
        (delegations?.all ?? []).map { DelegationStep(delegation: $0, delegator: document.role) }
    }
}

/// A pattern for target paths (PATHPATTERN, TUF section 4.5): `*` matches any characters of one segment, `?` one character;
/// neither matches a slash. Everything else is literal.
package struct PathPattern: Sendable, Hashable {
    let text: String
    private let segments: [[Unicode.Scalar]]

    package init(_ text: String) {
        self.text = text
        segments = Self.segments(of: text)
    }

    package func matches(_ path: String) -> Bool {
        let parts = Self.segments(of: path)
        return parts.count == segments.count
            && zip(segments, parts).allSatisfy { Self.matches($0[...], $1[...]) }
    }

    private static func segments(of text: String) -> [[Unicode.Scalar]] {
        text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map { Array($0) }
    }

    /// On a mismatch only the last star is extended by one character: the time is at most the product of the two
    /// lengths.
    private static func matches(_ pattern: ArraySlice<Unicode.Scalar>, _ text: ArraySlice<Unicode.Scalar>)
        -> Bool
    {
        var (pattern, text) = (pattern, text)
        var retry: (pattern: ArraySlice<Unicode.Scalar>, text: ArraySlice<Unicode.Scalar>)?
        while let scalar = text.first {
            if pattern.first == "*" {
                pattern = pattern.dropFirst()
                retry = (pattern, text)
            } else if let expected = pattern.first, expected == "?" || expected == scalar {
                pattern = pattern.dropFirst()
                text = text.dropFirst()
            } else if let last = retry {
                (pattern, text) = (last.pattern, last.text.dropFirst())
                retry = (pattern, text)
            } else {
                return false
            }
        }
        return pattern.allSatisfy { $0 == "*" }
    }
}

/// A target path and its SHA-256, which determines its bin.
struct TargetPath: Sendable {
    let text: String
    let digest: SHA256Digest
    let hexDigest: String

    init(_ text: String) {
        self.text = text
        digest = SHA256.hash(Array(text.utf8).span)
        hexDigest = digest.hex
    }
}
