import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

/// Malformed metadata with valid signatures.
@Suite struct MetadataFormTests {
    /// Members of each role: the member, its value or nil if it is missing, and what the refusal says.
    private static let members: [(String, JSONValue?, String)] = [
        ("version", "2", "is a string, not an integer"), ("version", true, "is a boolean, not an integer"),
        ("version", [2], "is an array, not an integer"), ("version", .null, "is null, not an integer"),
        ("version", nil, "is missing"), ("version", 0, "below 1"), ("version", -2, "below 1"),
        ("spec_version", "2.0.0", "where 1.x.y is expected"),
        ("spec_version", nil, "\"spec_version\" is missing"),
        ("expires", "2027-01-01", "does not have the form"), ("expires", 99_999_999_999, "not a string"),
        ("expires", nil, "\"expires\" is missing"), ("expires", 5, "not "),
        ("_type", nil, "\"_type\" is missing"), ("_type", 5, "not "),
    ]

    /// Members of one role that hold its content.
    private static let contents: [(MetadataRole, String)] = [
        (.root, "keys"), (.root, "roles"), (.timestamp, "meta"), (.snapshot, "meta"), (.targets, "targets"),
    ]

    /// Entries of a root for a role.
    private static let trusts: [(JSONValue?, String)] = [
        (["keyids": [], "threshold": 0], "below 1"), (["keyids": [], "threshold": -1], "below 1"),
        (["keyids": [], "threshold": "1"], "not an integer"),
        (["keyids": ["a", "a"], "threshold": 1], "twice"),
        (["keyids": [1], "threshold": 1], "expected a string"),
    ]

    /// Entries of a timestamp or a snapshot for a file.
    private static let files: [(JSONValue, String)] = [
        (["length": 1], "\"version\" is missing"), (["version": 0], "below 1"),
        (["version": "1"], "not an integer"),
        (["version": 2, "length": -1], "below 0"), (["version": 2, "length": "5"], "not an integer"),
        (["version": 2, "hashes": []], "not an object"),
        (["version": 2, "hashes": [:]], "it has no hash"),
        (["version": 2, "hashes": ["sha256": "AB"]], "64 lowercase"), ([], "object"),
    ]

    private static let hash = JSONValue.string(SHA256.hash([1].span).hex)

    private static let targets: [(JSONValue, String)] = [
        (["hashes": ["sha256": hash]], "\"length\" is missing"), (["length": 1], "\"hashes\" is missing"),
        (["length": -1, "hashes": ["sha256": hash]], "below 0"),
        (["length": "1", "hashes": ["sha256": hash]], "not an integer"),
        (["length": 1, "hashes": [:]], "it has no hash"),
        (["length": 1, "hashes": ["sha256": hash, "sha512": hash]], "128 lowercase"),
        (["length": 1, "hashes": ["sha256": "00"]], "64 lowercase"),
        (["length": 1, "hashes": ["sha256": hash], "custom": 1], "not an object"),
        (1, "expected an object"),
    ]

    private static var malformed: [Malformed] {
        var all: [Malformed] = []
        for role in MetadataRole.allTopLevel {
            for (member, value, words) in members {
                all.append(Malformed(role, member, value: value, saying: words))
            }
            for (value, words) in trusts + [(nil, "\"\(role.name)\" is missing")] {
                all.append(Malformed(.root, "roles", role.name, value: value, saying: words))
            }
        }
        for (role, member) in contents {
            all.append(Malformed(role, member, value: nil, saying: "\"\(member)\" is missing"))
            all.append(Malformed(role, member, value: 5, saying: "not "))
        }
        for (role, name) in [(MetadataRole.timestamp, "snapshot.json"), (.snapshot, "targets.json")] {
            for (value, words) in files {
                all.append(Malformed(role, "meta", value: .object([name: value]), saying: words))
            }
            all.append(Malformed(role, "meta", value: [:], saying: "\"\(name)\" is missing"))
        }
        for (value, words) in targets {
            let place = value == 1 ? "2.targets.json" : "target p"
            all.append(
                Malformed(.targets, "targets", value: .object(["p": value]), at: place, saying: words))
        }
        return all
    }

    @Test(arguments: malformed) func malformedMetadataAreRefused(_ malformed: Malformed) async throws {
        try await malformed.expectRefusal(in: Repository())
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func typesAreChecked(_ role: MetadataRole) async throws {
        let other: MetadataRole = role == .targets ? .snapshot : .targets
        // Signed by the role's keys, with another type.
        let repository = try Repository()
        for type in [.string(other.name), "Root", "", .integer(1), .null] as [JSONValue] {
            await expectRefusal { try parse(role, repository) { $0["_type"] = type } }
        }
        try parse(role, repository) { _ in }
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
            of: repository.source, at: "timestamp.json", saying: "(byte ", leaving: .first)
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func specificationVersionsAreChecked(_ role: MetadataRole) async throws {
        let repository = try Repository()
        for text in ["0.9", "1", "1.", "1.0.0.0", "1.0.x", "", "10.0.0", " 1.0.0", "1.0.-1", "١.0.0"] {
            await expectRefusal { try parse(role, repository) { $0["spec_version"] = .string(text) } }
        }
        for text in ["1.0", "1.0.0", "1.2.31"] {
            try parse(role, repository) { $0["spec_version"] = .string(text) }
        }
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func expiryMustBeATime(_ role: MetadataRole) async throws {
        let repository = try Repository()
        for text in ["2027-01-01T00:00:00", "2027-02-29T00:00:00Z", "2027-01-01T00:00:00+00:00", "never"] {
            await expectRefusal { try parse(role, repository) { $0["expires"] = .string(text) } }
        }
    }

    /// Parses the role's metadata after a change.
    private func parse(
        _ role: MetadataRole, _ repository: Repository, _ change: (inout JSONObject) -> Void
    ) throws {
        var signed = try repository.draft(role).signed
        change(&signed)
        let bytes = try repository.sign(signed, by: repository.keys[role] ?? [])
        _ = try UnverifiedMetadata(parsing: bytes, as: role, place: "test")
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func duplicateKeysAreRefused(_ role: MetadataRole) async throws {
        let repository = try Repository()
        let json = String(decoding: repository.files[role.hostedName(version: 1)] ?? [], as: UTF8.self)
        for (old, new) in [
            ("\"signed\": {", "\"signed\": {\"version\": 1, "),
            ("\"signatures\": [", "\"signatures\": [], \"signatures\": ["),
        ] {
            let doubled = json.replacing(old, with: new)
            #expect(doubled != json)
            await expectRefusal(saying: "twice") {
                try UnverifiedMetadata(parsing: Array(doubled.utf8), as: role, place: "test")
            }
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
    func otherEnvelopesAreRefused(_ text: String) async {
        await expectRefusal { try UnverifiedMetadata(parsing: Array(text.utf8), as: .root, place: "test") }
    }

    @Test func untrustedTextInErrorsIsShortAndOneLine() throws {
        let repository = try Repository()
        let text = "\u{1B}[31m\n" + String(repeating: "x", count: 100_000)
        let error = #expect(throws: VaultError.self) {
            try parse(.timestamp, repository) { $0["_type"] = .string(text) }
        }
        #expect((error?.description.count ?? 0) < 400)
        #expect(error?.description.unicodeScalars.contains { $0.value < 0x20 } == false)
    }
}
