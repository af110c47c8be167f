import Testing
import UpdateFramework
import VaultBase

/// The order in which roles are searched for a path (section 5.6.7), and the result.
@Suite struct TargetSearchTests {
    /// Delegations as `from>to`, with `!` after terminating ones and `-` after those for other paths.
    struct Graph: Sendable {
        let edges: String
        /// The roles that list the path.
        let listing: String
        /// The roles that a client requests, in order.
        let visits: String
        let found: String?
    }

    @Test(arguments: [
        Graph(edges: "T>a", listing: "a", visits: "a", found: "a"),
        Graph(edges: "T>a", listing: "Ta", visits: "", found: "T"),
        Graph(edges: "T>a", listing: "", visits: "a", found: nil),
        Graph(edges: "T>a T>b", listing: "ab", visits: "a", found: "a"),
        Graph(edges: "T>b T>a", listing: "ab", visits: "b", found: "b"),
        Graph(edges: "T>a T>b", listing: "b", visits: "ab", found: "b"),
        // Two and three levels: children come before siblings.
        Graph(edges: "T>a a>b", listing: "b", visits: "ab", found: "b"),
        Graph(edges: "T>a a>b", listing: "ab", visits: "a", found: "a"),
        Graph(edges: "T>a T>c a>b", listing: "bc", visits: "ab", found: "b"),
        Graph(edges: "T>a T>c a>b", listing: "c", visits: "abc", found: "c"),
        Graph(edges: "T>a T>e a>b a>d b>c", listing: "e", visits: "abcde", found: "e"),
        Graph(edges: "T>a T>e a>b a>d b>c", listing: "de", visits: "abcd", found: "d"),
        // A terminating delegation ends the search of later roles, on higher levels too, but not of its children.
        Graph(edges: "T>a! T>b", listing: "b", visits: "a", found: nil),
        Graph(edges: "T>a T>b! T>c", listing: "c", visits: "ab", found: nil),
        Graph(edges: "T>a! T>c a>b", listing: "bc", visits: "ab", found: "b"),
        Graph(edges: "T>a T>d a>b! a>c", listing: "cd", visits: "ab", found: nil),
        Graph(edges: "T>a! T>d a>b a>c", listing: "cd", visits: "abc", found: "c"),
        // Delegations for other paths, terminating or not.
        Graph(edges: "T>a!- T>b", listing: "ab", visits: "b", found: "b"),
        Graph(edges: "T>a-", listing: "a", visits: "", found: nil),
        Graph(edges: "T>a a>b-", listing: "b", visits: "a", found: nil),
        Graph(edges: "T>a- a>b", listing: "b", visits: "", found: nil),
        // Cycles and diamonds: each role once.
        Graph(edges: "T>a a>a", listing: "", visits: "a", found: nil),
        Graph(edges: "T>a a>b b>a", listing: "", visits: "ab", found: nil),
        Graph(edges: "T>a T>d a>b b>c c>a", listing: "d", visits: "abcd", found: "d"),
        Graph(edges: "T>a T>b a>d b>d", listing: "d", visits: "ad", found: "d"),
        Graph(edges: "T>a T>b a>d b>d", listing: "b", visits: "adb", found: "b"),
        Graph(edges: "T>a T>b a>d- b>d", listing: "d", visits: "abd", found: "d"),
    ])
    func rolesAreSearchedInOrder(_ graph: Graph) async throws {
        let repository = try Self.repository(graph)
        let client = try await TestClient.trusting(repository)
        let chain = try await client.refresh(repository.source)
        let source = repository.source
        let record = try await client.store.lookup(from: source, now: Repository.now).target(
            at: "f", in: chain)
        #expect(record?.author == (graph.found == "T" ? "targets" : graph.found))
        #expect(source.requests == graph.visits.map { "1.\($0).json" })
        // The complete tree gives the same result.
        let tree = try await TestClient.tree(of: repository)
        #expect(try tree.record(at: "f") == record)
        #expect(tree.refusals.isEmpty)
        #expect(Set(tree.delegatedRoles.map(\.document.role)).count == tree.delegatedRoles.count)
        #expect(tree.records.filter { $0.path == "f" } == (record.map { [$0] } ?? []))
    }

    private static func repository(_ graph: Graph) throws -> Repository {
        var repository = try Repository()
        repository.versions = [.root: 1]
        func role(_ name: Character) -> MetadataRole {
            name == "T" ? .targets : MetadataRole(stringLiteral: String(name))
        }
        for edge in graph.edges.split(separator: " ").map({ Array($0) }) {
            repository.delegate(
                edge.contains("-") ? ["g"] : ["f"], from: role(edge[0]), to: role(edge[2]),
                terminating: edge.contains("!"))
        }
        for name in graph.listing { repository.list("f", by: role(name)) }
        try repository.publishAll()
        return repository
    }

    @Test func aSearchVisits32RolesAtMost() async throws {
        var repository = try Repository()
        let names = (1...33).map { "r\($0)" }
        for (from, to) in zip(["targets"] + names, names) {
            let delegator = from == "targets" ? MetadataRole.targets : MetadataRole(stringLiteral: from)
            repository.delegate(from: delegator, to: MetadataRole(stringLiteral: to))
        }
        repository.list("near", by: "r32")
        repository.list("far", by: "r33")
        try repository.publishAll()
        let client = try await TestClient.trusting(repository)
        let tree = try await client.tree(repository.source)
        #expect(try await client.target(at: "near", in: repository.source)?.author == "r32")
        #expect(try tree.record(at: "near")?.author == "r32")
        for path in ["far", "missing"] {
            await expectRefusal(saying: "more than 32 delegated roles") {
                try await client.target(at: path, in: repository.source)
            }
            #expect(throws: VaultError.self) { try tree.record(at: path) }
        }
        #expect(tree.records.map(\.path) == ["near", "packs/a.avpack"])
    }

    @Test func hashPrefixesAreOfTheSHA256OfThePath() async throws {
        // The SHA-256 of "f" begins with 252f10c8.
        let cases: [([String], Bool)] = [
            (["2"], true), (["252f"], true), (["0", "252f10c8"], true), ([""], true), ([], false),
            (["0"], false), (["52f"], false), (["252F"], false), (["252f10c9"], false),
            (["252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f111"], true),
            (["252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f1110"], false),
        ]
        for (prefixes, isCovered) in cases {
            var repository = try Repository()
            repository.add(.init(role: .team, scope: .hashPrefixes(prefixes)))
            repository.list("f", by: .team)
            try repository.publishAll()
            let tree = try await TestClient.tree(of: repository)
            #expect(try (tree.record(at: "f") != nil) == isCovered, "\(prefixes)")
        }
    }
}
