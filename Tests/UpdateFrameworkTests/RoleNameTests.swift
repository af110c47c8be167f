import Foundation
import SystemPackage
import Testing
import UpdateFramework
import VaultBase

/// A delegated role may have almost any name; its files stay in their folder.
@Suite struct RoleNameTests {
    static let names = [
        "?", "#", "%", "%2e", "/x", "../x", "../../etc/x", ".", "..", "...", "a/b", "a\\b", "a b", "*",
        "root.json",
        "Roots", "1.root", "lock", "root_history", "targets.json", "timestamp%", "\u{0}", "\n", "é",
        "e\u{301}",
        "😀", "~", "-", String(repeating: "x", count: 200), String(repeating: "/", count: 66),
    ]

    @Test(arguments: names)
    func roleWithAnyNameIsStoredInTheFolder(_ name: String) async throws {
        let role = try #require(MetadataRole(delegated: name))
        var repository = try Repository()
        repository.delegate(to: role)
        repository.list("f", by: role)
        try repository.publishAll()
        let client = try await TestClient.trusting(repository)
        let before = client.fileNames
        #expect(try await client.target(at: "f", in: repository.source)?.author == name)
        let new = Set(client.fileNames).subtracting(before)
        #expect(new == [role.fileName])
        #expect(client.bytes(role.fileName) == repository.files["1.\(role.fileName)"])
        #expect(role.fileName.utf8.count <= 205)
        // From the store alone, then again from the host.
        let source = repository.source
        #expect(try await client.target(at: "f", in: source)?.author == name)
        #expect(source.requests == ["2.root.json", "timestamp.json"])
        for other in MetadataRole.allTopLevel { #expect(other.fileName != role.fileName) }
    }

    @Test(arguments: names)
    func roleWithAnyNameIsPublishedToTheFolder(_ name: String) async throws {
        let role = try #require(MetadataRole(delegated: name))
        let publisher = Publisher()
        publisher.delegations = .roles([publisher.delegation(to: role, of: .paths(["*"]))])
        publisher.teams = [.init(role: role, records: [.of("f", by: role)])]
        try await publisher.publish(["packs/a.avpack"])
        #expect(
            Set(publisher.names) == [
                "1.root.json", "1.snapshot.json", "1.targets.json", "timestamp.json", "1.\(role.fileName)",
            ])
        let next = try MetadataFolder(publisher.path).nextVersions()
        #expect(next[role] == 2)
        for other in MetadataRole.allTopLevel { #expect(next[other] == 2) }
    }

    @Test func differentRolesHaveDifferentFiles() throws {
        let roles = try Self.names.map { try #require(MetadataRole(delegated: $0)) }
        #expect(Set(roles).count == Self.names.count)
        #expect(Set(roles.map { Array($0.fileName.utf8) }).count == Self.names.count)
        for role in roles { #expect(role.topLevel == nil) }
    }

    /// Similar letters with different bytes: two roles, with their own keys and files.
    @Test func namesAreComparedByBytes() async throws {
        var repository = try Repository()
        let (composed, decomposed): (MetadataRole, MetadataRole) = ("\u{E9}", "e\u{301}")
        #expect(composed != decomposed)
        repository.delegate(["a"], to: composed)
        repository.delegate(["b"], to: decomposed)
        for role in [composed, decomposed] {
            repository.list("a", by: role)
            repository.list("b", by: role)
        }
        repository.versions[decomposed] = 4
        try repository.publishAll()
        let client = try await TestClient.trusting(repository)
        let tree = try await client.tree(repository.source)
        #expect(tree.refusals.isEmpty)
        #expect(tree.delegatedRoles.map(\.version).sorted() == [1, 5])
        let records = ["a", "b"].map { try? tree.record(at: $0)?.author }
        #expect(records[0]?.utf8.elementsEqual("\u{E9}".utf8) == true)
        #expect(records[1]?.utf8.elementsEqual("e\u{301}".utf8) == true)
        #expect(client.bytes("%C3%A9.json") != client.bytes("e%CC%81.json"))
    }
}
