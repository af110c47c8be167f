import StrictJSON
import VaultErrors

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
