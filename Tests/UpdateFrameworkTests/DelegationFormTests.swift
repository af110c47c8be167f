import StrictJSON
import Testing
import UpdateFramework
import VaultErrors

/// Malformed delegations with valid signatures.
@Suite struct DelegationFormTests {
    typealias Change = @Sendable (inout JSONObject) -> Void

    /// Expects that the targets are refused and the store is unchanged.
    private func expectRefusal(
        saying text: String, sourceLocation: SourceLocation = #_sourceLocation, _ change: @escaping Change
    ) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        repository.delegate(["levels/*"], to: .team)
        repository.list("levels/one", by: .team)
        repository.amend[.targets] = { targets in
            guard case .object(var delegations)? = targets["delegations"] else { return }
            change(&delegations)
            targets["delegations"] = .object(delegations)
        }
        try repository.publishAll()
        await client.expectRefusal(
            of: repository.source, at: "2.targets.json", saying: text,
            leaving: SignatureTests.kept(refusing: .targets), sourceLocation: sourceLocation)
    }

    /// The same for a change of the only role.
    private func expectRefusalOfRole(
        saying text: String, sourceLocation: SourceLocation = #_sourceLocation, _ change: @escaping Change
    ) async throws {
        try await expectRefusal(saying: text, sourceLocation: sourceLocation) { delegations in
            guard case .array(let roles)? = delegations["roles"], case .object(var role)? = roles.first else {
                return
            }
            change(&role)
            delegations["roles"] = [.object(role)]
        }
    }

    private static let bins: JSONObject = [
        "keyids": [], "threshold": 1, "bit_length": 1, "name_prefix": "bin",
    ]

    @Test(arguments: [
        "", "root", "timestamp", "snapshot", "targets", "Root", "TARGETS", "timeStamp", "Snapshot",
        String(repeating: "x", count: 300),
        String(repeating: "/", count: 67), String(repeating: "é", count: 34),
    ])
    func refusesInvalidRoleNames(_ name: String) async throws {
        #expect(MetadataRole(delegated: name) == nil)
        try await expectRefusalOfRole(saying: "a delegated role can't have this name") {
            $0["name"] = .string(name)
        }
    }

    @Test func rolesNeedAllMembers() async throws {
        for member in ["name", "keyids", "threshold", "terminating"] {
            try await expectRefusalOfRole(saying: "\"\(member)\" is missing") { $0[member] = nil }
            try await expectRefusalOfRole(saying: "not ") { $0[member] = [:] }
        }
        try await expectRefusalOfRole(saying: "below 1") { $0["threshold"] = 0 }
        try await expectRefusalOfRole(saying: "twice") { $0["keyids"] = ["a", "a"] }
        try await expectRefusal(saying: "\"keys\" is missing") { $0["keys"] = nil }
        try await expectRefusal(saying: "not ") { $0["roles"] = [:] }
        try await expectRefusal(saying: "expected an object") { $0["roles"] = ["team"] }
    }

    @Test func aRoleHasPathsOrHashPrefixes() async throws {
        let text = "one of the members \"paths\" and \"path_hash_prefixes\", not both"
        try await expectRefusalOfRole(saying: text) { $0["path_hash_prefixes"] = ["0"] }
        try await expectRefusalOfRole(saying: text) { $0["paths"] = nil }
        try await expectRefusalOfRole(saying: "expected a string") { $0["paths"] = [1] }
        try await expectRefusalOfRole(saying: "expected a string") {
            $0["paths"] = nil
            $0["path_hash_prefixes"] = [1]
        }
    }

    @Test func delegationsAreRolesOrBins() async throws {
        let text = "one of the members \"roles\" and \"succinct_roles\", not both"
        try await expectRefusal(saying: text) { $0["succinct_roles"] = .object(Self.bins) }
        try await expectRefusal(saying: text) { $0["roles"] = nil }
    }

    @Test func binsNeedAllMembersInRange() async throws {
        let cases: [(String, JSONValue?, String)] = [
            ("keyids", nil, "\"keyids\" is missing"), ("threshold", nil, "\"threshold\" is missing"),
            ("bit_length", nil, "\"bit_length\" is missing"),
            ("name_prefix", nil, "\"name_prefix\" is missing"),
            ("threshold", 0, "below 1"), ("bit_length", 0, "1 to 14 bits are supported"),
            ("bit_length", -1, "1 to 14 bits are supported"),
            ("bit_length", 15, "1 to 14 bits are supported"),
            ("bit_length", 9_007_199_254_740_991, "1 to 14 bits are supported"),
            ("bit_length", "1", "not an integer"),
            ("name_prefix", .string(String(repeating: "x", count: 196)), "can't read bins"),
        ]
        for (member, value, text) in cases {
            try await expectRefusal(saying: text) { delegations in
                var bins = Self.bins
                bins[member] = value
                delegations["roles"] = nil
                delegations["succinct_roles"] = .object(bins)
            }
        }
    }

    @Test func refusesDuplicateRoles() async throws {
        try await expectRefusal(saying: "the role team is delegated to twice") { delegations in
            guard case .array(let roles)? = delegations["roles"] else { return }
            delegations["roles"] = .array(roles + roles)
        }
    }

    /// On a case-insensitive disk one would overwrite the other.
    @Test(arguments: ["Team", "TEAM"]) func refusesRolesThatDifferOnlyInCase(_ name: String) async throws {
        try await expectRefusal(saying: "differ only in case") { delegations in
            guard case .array(let roles)? = delegations["roles"], case .object(var role)? = roles.first else {
                return
            }
            role["name"] = .string(name)
            delegations["roles"] = .array(roles + [.object(role)])
        }
    }

    @Test func unsupportedKeysAreNotCounted() async throws {
        var repository = try Repository.withTeam()
        repository.amend[.targets] = { targets in
            guard case .object(var delegations)? = targets["delegations"],
                case .object(var keys)? = delegations["keys"]
            else { return }
            for id in keys.keys { keys[id] = ["keytype": "x", "scheme": "x", "keyval": ["public": "00"]] }
            delegations["keys"] = .object(keys)
            targets["delegations"] = .object(delegations)
        }
        try repository.publishAll()
        let tree = try await TestClient.tree(of: repository)
        #expect(tree.refusals.map(\.role) == [.team])
        #expect(tree.refusals.first?.error.problem.contains("0 valid signatures") == true)
    }
}
