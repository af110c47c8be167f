import Testing
import UpdateFramework
import VaultBase

/// Malformed metadata with valid signatures.
@Suite struct MetadataFormTests {
    typealias Change = @Sendable (inout JSONObject) -> Void

    /// Expects a refusal and an unchanged store.
    private func expectRefusal(
        _ role: MetadataRole, saying text: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: @escaping Change
    ) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        repository.amend[role] = change
        if role == .root { try repository.publish(.root) } else { try repository.release("packs/b.avpack") }
        await client.expectRefusal(
            of: repository.source, at: role.hostedName(version: 2), saying: text,
            leaving: SignatureTests.kept(refusing: role), sourceLocation: sourceLocation)
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func typesAreChecked(_ role: MetadataRole) async throws {
        let other: MetadataRole = role == .targets ? .snapshot : .targets
        // Signed by the role's keys, with another type.
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        if role == .root { try repository.publish(.root) } else { try repository.release("packs/b.avpack") }
        var signed = try repository.draft(role).signed
        for type in [.string(other.name), "Root", "", .integer(1), .null] as [JSONValue] {
            signed["_type"] = type
            let bytes = try repository.sign(signed, by: repository.keys[role] ?? [])
            let error = #expect(throws: VaultError.self) {
                try UnverifiedMetadata(parsing: bytes, as: role, place: "x")
            }
            #expect(error?.category == .untrusted)
        }
        try await client.refresh(repository.source)
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func versionsArePositiveIntegers(_ role: MetadataRole) async throws {
        try await expectRefusal(role, saying: "is a string, not an integer") { $0["version"] = "2" }
        try await expectRefusal(role, saying: "is a boolean, not an integer") { $0["version"] = true }
        try await expectRefusal(role, saying: "is an array, not an integer") { $0["version"] = [2] }
        try await expectRefusal(role, saying: "is null, not an integer") { $0["version"] = .null }
        try await expectRefusal(role, saying: "is missing") { $0["version"] = nil }
        try await expectRefusal(role, saying: "below 1") { $0["version"] = 0 }
        try await expectRefusal(role, saying: "below 1") { $0["version"] = -2 }
    }

    @Test(arguments: ["2.0", "2e0", "02", "9007199254740992", "0x2"])
    func versionsInOddNotationsAreRefused(_ text: String) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.publish(.timestamp)
        let json = String(decoding: repository.files["timestamp.json"] ?? [], as: UTF8.self)
        let odd = json.replacing("\"version\": 2", with: "\"version\": \(text)")
        #expect(odd != json)
        repository.files["timestamp.json"] = Array(odd.utf8)
        await client.expectRefusal(
            of: repository.source, at: "timestamp.json", saying: "(byte ",
            leaving: .init(root: 1, timestamp: 1, snapshot: 1, targets: 1))
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func specificationVersionsAreChecked(_ role: MetadataRole) async throws {
        try await expectRefusal(role, saying: "where 1.x.y is expected") { $0["spec_version"] = "2.0.0" }
        try await expectRefusal(role, saying: "\"spec_version\" is missing") { $0["spec_version"] = nil }
        let repository = try Repository()
        for text in ["0.9", "1", "1.", "1.0.0.0", "1.0.x", "", "10.0.0", " 1.0.0", "1.0.-1", "١.0.0"] {
            #expect(throws: VaultError.self) {
                try parse(role, repository) { $0["spec_version"] = .string(text) }
            }
        }
        for text in ["1.0", "1.0.0", "1.2.31"] {
            try parse(role, repository) { $0["spec_version"] = .string(text) }
        }
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func expiryMustBeATime(_ role: MetadataRole) async throws {
        try await expectRefusal(role, saying: "does not have the form") { $0["expires"] = "2027-01-01" }
        try await expectRefusal(role, saying: "not a string") { $0["expires"] = 99_999_999_999 }
        let repository = try Repository()
        for text in ["2027-01-01T00:00:00", "2027-02-29T00:00:00Z", "2027-01-01T00:00:00+00:00", "never"] {
            #expect(throws: VaultError.self) { try parse(role, repository) { $0["expires"] = .string(text) } }
        }
    }

    /// Parses the role's metadata after a change.
    private func parse(_ role: MetadataRole, _ repository: Repository, _ change: Change) throws {
        var signed = try repository.draft(role).signed
        change(&signed)
        let bytes = try repository.sign(signed, by: repository.keys[role] ?? [])
        _ = try UnverifiedMetadata(parsing: bytes, as: role, place: "test")
    }

    @Test func missingMembersAreRefused() async throws {
        for (role, members) in [
            (MetadataRole.root, ["keys", "roles", "expires", "_type"]),
            (.timestamp, ["meta", "expires", "_type"]),
            (.snapshot, ["meta", "expires", "_type"]), (.targets, ["targets", "expires", "_type"]),
        ] {
            for member in members {
                try await expectRefusal(role, saying: "\"\(member)\" is missing") { $0[member] = nil }
                try await expectRefusal(role, saying: "not ") { $0[member] = 5 }
            }
        }
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func duplicateKeysAreRefused(_ role: MetadataRole) async throws {
        let repository = try Repository()
        let name = role.hostedName(version: 1)
        let json = String(decoding: repository.files[name] ?? [], as: UTF8.self)
        for (old, new) in [
            ("\"signed\": {", "\"signed\": {\"version\": 1, "),
            ("\"signatures\": [", "\"signatures\": [], \"signatures\": ["),
        ] {
            let doubled = json.replacing(old, with: new)
            #expect(doubled != json)
            let error = #expect(throws: VaultError.self) {
                try UnverifiedMetadata(parsing: Array(doubled.utf8), as: role, place: name)
            }
            #expect(error?.category == .untrusted)
            #expect(error?.problem.contains("twice") == true)
        }
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func everyTruncationIsRefused(_ role: MetadataRole) throws {
        let repository = try Repository()
        let bytes = repository.files[role.hostedName(version: 1)] ?? []
        for count in 0..<(bytes.count - 1) {
            #expect(throws: VaultError.self) {
                try UnverifiedMetadata(parsing: Array(bytes[..<count]), as: role, place: "test")
            }
        }
    }

    @Test(arguments: [
        "[]", "{}", "null", "{\"signed\":{},\"signatures\":{}}", "{\"signed\":[],\"signatures\":[]}",
        "{\"signatures\":[]}", "{\"signed\":{}}",
    ])
    func otherEnvelopesAreRefused(_ text: String) {
        let error = #expect(throws: VaultError.self) {
            try UnverifiedMetadata(parsing: Array(text.utf8), as: .root, place: "test")
        }
        #expect(error?.category == .untrusted)
    }

    @Test func untrustedTextInErrorsIsShortAndOneLine() throws {
        let repository = try Repository()
        let text = "\u{1B}[31m\n" + String(repeating: "x", count: 100_000)
        var signed = try repository.draft(.timestamp).signed
        signed["_type"] = .string(text)
        let bytes = try repository.sign(signed, by: [])
        let error = #expect(throws: VaultError.self) {
            try UnverifiedMetadata(parsing: bytes, as: .timestamp, place: "test")
        }
        #expect((error?.description.count ?? 0) < 400)
        #expect(error?.description.unicodeScalars.contains { $0.value < 0x20 } == false)
    }
}
