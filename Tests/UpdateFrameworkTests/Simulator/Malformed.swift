import Testing
import UpdateFramework
import VaultBase

/// A change that makes a role's second version malformed, and what the refusal says.
struct Malformed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    private let role: MetadataRole
    private let place: String
    private let saying: String
    private let change: @Sendable (inout JSONObject) throws -> Void

    init(
        _ role: MetadataRole, at place: String? = nil, saying: String, _ description: String? = nil,
        _ change: @escaping @Sendable (inout JSONObject) throws -> Void
    ) {
        testDescription = "\(role.name), \(description ?? saying)"
        (self.role, self.saying, self.change) = (role, saying, change)
        self.place = place ?? role.hostedName(version: 2)
    }

    /// The member at a path has this value, or is missing.
    init(
        _ role: MetadataRole, _ path: String..., value: JSONValue?, at place: String? = nil, saying: String
    ) {
        let text = value.map { String(decoding: $0.canonical(), as: UTF8.self) } ?? "missing"
        self.init(role, at: place, saying: saying, "\(path.joined(separator: ".")) \(text)") { json in
            try json.change(path.dropLast()) { $0[path[path.count - 1]] = value }
        }
    }

    /// Expects a client of the repository to refuse the role's second version, and its store to keep the rest.
    func expectRefusal(in original: Repository) async throws {
        var repository = original
        let client = try await TestClient.trusting(repository)
        repository.amend[role] = change
        try repository.publishSecond(role)
        await client.expectRefusal(
            of: repository.source, at: place, saying: saying, leaving: .kept(refusing: role))
    }
}
