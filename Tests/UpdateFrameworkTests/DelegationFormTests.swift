import Testing
import UpdateFramework
import VaultBase

/// Malformed delegations with valid signatures.
@Suite struct DelegationFormTests {
    private typealias Change = @Sendable (inout JSONObject) throws -> Void

    /// A change of valid delegations to one role.
    private static func all(saying text: String, _ description: String? = nil, _ change: @escaping Change)
        -> Malformed
    {
        Malformed(.targets, saying: text, description) { try $0.change("delegations", by: change) }
    }

    /// The same for a change of the role.
    private static func role(saying text: String, _ description: String? = nil, _ change: @escaping Change)
        -> Malformed
    {
        all(saying: text, description) { try $0.changeRole(by: change) }
    }

    /// Bins in the place of the role, one member of which is another.
    private static func bins(_ member: String, _ value: JSONValue?, saying text: String) -> Malformed {
        all(saying: text, "bins, \(member), \(text)") {
            var bins = Self.bins
            bins[member] = value
            $0["roles"] = nil
            $0["succinct_roles"] = .object(bins)
        }
    }

    private static let bins: JSONObject = [
        "keyids": [], "threshold": 1, "bit_length": 1, "name_prefix": "bin",
    ]

    private static let pathsOrPrefixes = "one of the members \"paths\" and \"path_hash_prefixes\", not both"
    private static let rolesOrBins = "one of the members \"roles\" and \"succinct_roles\", not both"

    static let malformed: [Malformed] =
        ["name", "keyids", "threshold", "terminating"].flatMap { member -> [Malformed] in
            [
                role(saying: "\"\(member)\" is missing") { $0[member] = nil },
                role(saying: "not ", "\(member) is an object") { $0[member] = [:] },
            ]
        } + [
            role(saying: "below 1") { $0["threshold"] = 0 },
            role(saying: "twice") { $0["keyids"] = ["a", "a"] },
            role(saying: pathsOrPrefixes) { $0["path_hash_prefixes"] = ["0"] },
            role(saying: pathsOrPrefixes) { $0["paths"] = nil },
            role(saying: "expected a string") { $0["paths"] = [1] },
            role(saying: "expected a string") {
                $0["paths"] = nil
                $0["path_hash_prefixes"] = [1]
            },
            all(saying: "\"keys\" is missing") { $0["keys"] = nil },
            all(saying: "not ") { $0["roles"] = [:] },
            all(saying: "expected an object") { $0["roles"] = ["team"] },
            all(saying: "the role team is delegated to twice") {
                let roles = try $0.array("roles", at: "")
                $0["roles"] = .array(roles + roles)
            },
            all(saying: rolesOrBins) { $0["succinct_roles"] = .object(bins) },
            all(saying: rolesOrBins) { $0["roles"] = nil },
        ] + bins.keys.map { bins($0, nil, saying: "\"\($0)\" is missing") } + [
            bins("threshold", 0, saying: "below 1"),
            bins("bit_length", 0, saying: "1 to 14 bits are supported"),
            bins("bit_length", -1, saying: "1 to 14 bits are supported"),
            bins("bit_length", 15, saying: "1 to 14 bits are supported"),
            bins("bit_length", 9_007_199_254_740_991, saying: "1 to 14 bits are supported"),
            bins("bit_length", "1", saying: "not an integer"),
            bins("name_prefix", .string(String(repeating: "x", count: 196)), saying: "can't read bins"),
        ]

    /// The targets are refused, and the store is unchanged.
    @Test(arguments: malformed) func theyAreRefused(_ malformed: Malformed) async throws {
        var repository = try Repository()
        repository.delegate(["levels/*"], to: .team)
        repository.list("levels/one", by: .team)
        try await malformed.expectRefusal(in: repository)
    }

    @Test(arguments: [
        "", "root", "timestamp", "snapshot", "targets", "Root", "TARGETS", "timeStamp", "Snapshot",
        String(repeating: "x", count: 300),
        String(repeating: "/", count: 67), String(repeating: "é", count: 34),
    ])
    func refusesInvalidRoleNames(_ name: String) async throws {
        #expect(MetadataRole(delegated: name) == nil)
        try await theyAreRefused(
            Self.role(saying: "a delegated role can't have this name") { $0["name"] = .string(name) })
    }

    /// On a case-insensitive disk one would overwrite the other.
    @Test(arguments: ["Team", "TEAM"]) func refusesRolesThatDifferOnlyInCase(_ name: String) async throws {
        try await theyAreRefused(
            Self.all(saying: "differ only in case") {
                let role = try $0.array("roles", at: "")[0]
                var other = try role.asObject(at: "")
                other["name"] = .string(name)
                $0["roles"] = [role, .object(other)]
            })
    }

    @Test func unsupportedKeysAreNotCounted() async throws {
        var repository = try Repository.withTeam()
        repository.amend[.targets] = {
            try $0.change("delegations", "keys") { keys in
                for id in keys.keys {
                    keys[id] = ["keytype": "x", "scheme": "x", "keyval": ["public": "00"]]
                }
            }
        }
        try repository.publishAll()
        let tree = try await TestClient.tree(of: repository)
        #expect(tree.refusals.map(\.role) == [.team])
        #expect(tree.refusals.first?.error.problem.contains("0 valid signatures") == true)
    }
}
