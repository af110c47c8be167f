import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

@testable import UpdateFramework

/// The states before refreshes: whole, one at a time, and only as long as they say what was not read again.
@Suite struct EarlierStateTests {
    private var repository: Repository
    private let client: TestClient

    /// A site with a team whose role the client has read.
    init() async throws {
        repository = try Repository.withTeam()
        client = try await TestClient.trusting(repository)
        _ = try await client.target(at: "levels/one", in: repository.source)
    }

    private func states() async throws -> [EarlierState] {
        var states: [EarlierState] = []
        let none: Never? = try await client.store.firstEarlierState { state throws(VaultError) in
            states.append(state)
            return nil
        }
        #expect(none == nil)
        return states
    }

    /// The team's role of each state, nil where it was not read.
    private func teamVersions() async throws -> [Int64?] {
        var versions: [Int64?] = []
        for state in try await states() {
            let roles = try? await state.lookup.rolesVisited(for: "levels/one", in: state.chain)
            versions.append(roles?.last.flatMap { $0.document.role == .team ? $0.version : nil })
        }
        return versions
    }

    private mutating func publishTeam() throws { try repository.publish("team", .snapshot, .timestamp) }

    @Test mutating func aRefreshThatReadsNoRole() async throws {
        #expect(try await states().isEmpty)
        let first = try #require(client.bytes("team.json"))
        try publishTeam()
        let chain = try await client.refresh(repository.source)
        #expect(try await teamVersions() == [1])
        // The present role is not there, and nothing of the earlier state counts under the present chain.
        await #expect(throws: VaultError.self) {
            try await client.store.lookup(from: client.store.asSource, now: .earliest)
                .target(at: "levels/one", in: chain)
        }
        #expect(client.bytes("team.json") == first)
        // A later one that reads nothing either has nothing to say.
        try publishTeam()
        try await client.refresh(repository.source)
        try publishTeam()
        try await client.refresh(repository.source)
        #expect(try await teamVersions().filter { $0 == 1 }.count == 1)
        #expect(try await states().count <= 2)
        // What was read again replaces it, from the next refresh on.
        _ = try await client.target(at: "levels/one", in: repository.source)
        try publishTeam()
        try await client.refresh(repository.source)
        #expect(try await teamVersions() == [4])
    }

    /// Looking up in a state changes nothing that is stored.
    @Test mutating func lookingUpStoresNothing() async throws {
        try publishTeam()
        _ = try await client.target(at: "levels/one", in: repository.source)
        let present = try #require(client.bytes("team.json"))
        #expect(try await teamVersions() == [1])
        #expect(client.bytes("team.json") == present)
    }

    /// The number of states has a limit; the one with the most roles stays.
    @Test mutating func theLimit() async throws {
        for number in 0..<12 {
            repository.delegate(["maps\(number)/*"], to: MetadataRole(stringLiteral: "maps\(number)"))
        }
        try repository.publishAll()
        _ = try await client.tree(repository.source)
        for number in 0..<12 {
            try repository.publishAll()
            _ = try await client.target(at: "maps\(number)/one", in: repository.source)
        }
        try repository.publishAll()
        try await client.refresh(repository.source)
        let states = try await states()
        #expect(states.count == 8)
        let whole = try #require(states.last)
        #expect(try await whole.lookup.tree(of: whole.chain).refusals.isEmpty)
    }

    /// What a key signed that was revoked since does not count.
    @Test mutating func aRevokedKey() async throws {
        try publishTeam()
        try await client.refresh(repository.source)
        repository.keys[.targets] = [SigningKey()]
        try repository.publish(.root, .targets, .snapshot, .timestamp)
        try await client.refresh(repository.source)
        #expect(try await states().isEmpty)
    }

    /// A state that was read before a key of the timestamp was replaced says what was not read again.
    @Test mutating func aReplacedTimestampKey() async throws {
        repository.keys[.timestamp] = [SigningKey()]
        try repository.publish("team", .root, .snapshot, .timestamp)
        try await client.refresh(repository.source)
        #expect(try await teamVersions() == [1])
    }

    /// A damaged role is a missing one; a damaged state is none.
    @Test mutating func damage() async throws {
        try publishTeam()
        try await client.refresh(repository.source)
        try client.write(Array("{".utf8), to: "earlier/1/team.json")
        #expect(try await teamVersions() == [nil])
        try client.write(Array("{".utf8), to: "earlier/1/targets.json")
        #expect(try await states().isEmpty)
        for name in ["x", "0", "01", "99999999999999999999", "9223372036854775807"] {
            try FileSystem.createFolders(
                client.store.folder.appending("earlier").appending(name), permissions: 0o755)
        }
        try publishTeam()
        try await client.refresh(repository.source)
        #expect(try await states().count == 1)
    }
}
