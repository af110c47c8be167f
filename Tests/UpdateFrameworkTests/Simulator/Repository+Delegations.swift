import VaultBase
import VaultCrypto

@testable import UpdateFramework

extension Repository {
    /// A delegation of a test, with the role's own keys and threshold by default.
    struct Link {
        var role: MetadataRole
        var scope: Delegation.Scope
        var isTerminating = false
        var keys: [SigningKey]?
        var threshold: Int?
    }

    /// Hash bins that share one key.
    struct Bins {
        var bitLength: Int
        var namePrefix: String
        var key: SigningKey
    }

    /// Delegates from one role to another, which lists nothing yet.
    @discardableResult
    mutating func delegate(
        _ paths: [String] = ["*", "*/*", "*/*/*"], from delegator: MetadataRole = .targets,
        to role: MetadataRole,
        terminating: Bool = false
    ) -> MetadataRole {
        add(Link(role: role, scope: .paths(paths), isTerminating: terminating), from: delegator)
        return role
    }

    mutating func add(_ link: Link, from delegator: MetadataRole = .targets) {
        if keys[link.role] == nil { keys[link.role] = [SigningKey()] }
        links[delegator, default: []].append(link)
    }

    /// Delegates a role to bins; those without a file stay unpublished.
    mutating func delegateToBins(from delegator: MetadataRole = .targets, bitLength: Int, namePrefix: String)
    {
        bins[delegator] = Bins(bitLength: bitLength, namePrefix: namePrefix, key: SigningKey())
    }

    func hashBins(of role: MetadataRole) -> HashBins? {
        bins[role].flatMap {
            HashBins(
                bitLength: $0.bitLength, namePrefix: $0.namePrefix, trust: RoleTrust([$0.key.publicKey]))
        }
    }

    func delegations(of role: MetadataRole) -> Delegations? {
        if let bins = hashBins(of: role) { return .bins(bins) }
        guard let links = links[role] else { return nil }
        return .roles(
            links.map { link in
                var trust = trust(in: link.role)
                if let keys = link.keys { trust = RoleTrust(keys.map(\.publicKey)) }
                if let threshold = link.threshold { trust = RoleTrust(trust.keys, threshold: threshold) }
                return Delegation(
                    to: link.role, of: link.scope, trust: trust, isTerminating: link.isTerminating)
            })
    }

    /// Lists a file of three bytes that identify the role.
    mutating func list(_ path: String, by role: MetadataRole = .targets) {
        listings[role, default: []].append(.of(path, by: role))
    }

    /// Lists a file in its bin.
    mutating func listInBin(_ path: String, of delegator: MetadataRole = .targets) {
        guard let bins = hashBins(of: delegator), let bin = bins.role(at: bins.index(of: path)) else {
            return
        }
        if let key = self.bins[delegator]?.key { keys[bin] = [key] }
        list(path, by: bin)
    }

    /// The next version of every delegated role, and of all but the root above them.
    mutating func publishAll() throws {
        let linked = links.values.flatMap { $0.map(\.role) }
        let delegated = Set(linked + listings.keys).filter { $0.topLevel == nil }.sorted()
        try publish(delegated + [.targets, .snapshot, .timestamp])
    }

    /// A team that may list `levels/*`, and lists `levels/one`.
    static func withTeam() throws -> Repository {
        var repository = try Repository()
        repository.delegate(["levels/*"], to: .team)
        repository.list("levels/one", by: .team)
        try repository.publishAll()
        return repository
    }
}

extension TargetRecord {
    static func of(_ path: String, by role: MetadataRole) -> TargetRecord {
        TargetRecord(
            path: path, length: 3, sha256: SHA256.hash([1, 2, 3].span), custom: ["by": .string(role.name)])
    }

    /// The role of a file from ``of(_:by:)``.
    var author: String? {
        guard case .string(let name)? = custom?["by"] else { return nil }
        return name
    }
}
