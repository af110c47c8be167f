import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase

@Suite struct PackManifestTests {
    private let sealed: Sealed

    init() async throws {
        let key = try await TestKey().contentKey()
        let slot = try KeySlot(wrapping: key, under: try vaultKey("first", seed: 1))
        sealed = try await seal(try Source.small(), key: key, .exactly(3), slots: [slot])
    }

    /// A member by its path, such as `custom.assetvault.index.length`.
    private func changed(_ path: String, _ value: JSONValue?, in object: JSONObject) -> JSONObject {
        var object = object
        guard let dot = path.firstIndex(of: ".") else {
            object[path] = value
            return object
        }
        let name = String(path[..<dot])
        guard case .object(let inner)? = object[name] else { return object }
        object[name] = .object(changed(String(path[path.index(after: dot)...]), value, in: inner))
        return object
    }

    private func expectRefusal(
        _ path: String, _ value: JSONValue?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let json = changed(path, value, in: sealed.manifest.json)
        #expect(json != sealed.manifest.json, sourceLocation: sourceLocation)
        let error = #expect(throws: VaultError.self, "\(path)", sourceLocation: sourceLocation) {
            try PackManifest(parsing: json, place: "test")
        }
        #expect(error?.category == .corrupt, sourceLocation: sourceLocation)
    }

    @Test func roundTrip() throws {
        var manifest = sealed.manifest
        manifest.offer.withheldTags = ["three"]
        #expect(try PackManifest(parsing: manifest.json, place: "test") == manifest)
        manifest.offer = PackOffer(
            policy: .onDemand, tags: ["one", "ä\u{308}"],
            traits: [
                "language": "de", "scale": 2, "texture": "astc", "class": "phone",
                "hdr": true,
            ], family: try PackID("levels"), order: -1,
            matching: [
                "language": .language(fallback: ["en", "fr"]), "scale": .nearest,
                "texture": .word(fallback: ["png"]), "class": .word(fallback: []),
                "hdr": .word(fallback: ["false"]),
            ], apps: AppVersionRange(from: try AppVersion("2.0"), before: try AppVersion("3.1")),
            preservation: 90)
        let again = try PackManifest(parsing: manifest.json, place: "test")
        #expect(again.json == manifest.json)
        #expect(again == manifest)
        let folder = try TemporaryFolder()
        try folder.write("pack.json", PackManifestFile.bytes(of: manifest))
        #expect(try PackManifestFile.read(beside: folder.path.appending("pack")) == manifest)
    }

    @Test func manifestDescribesThePack() throws {
        let parts = sealed.parts
        let truth = parts.manifest(
            id: "levels/one", version: 3, openedSize: UInt64(try Source.small().content.count),
            entries: try Source.small().entryCount)
        var json = sealed.manifest.json
        #expect(sealed.manifest.slots.count == 1)
        json = changed("custom.assetvault.slots", .array([]), in: json)
        #expect(json == truth)
    }

    @Test func membersAreRequiredAndTyped() {
        let members = [
            "length", "hashes", "hashes.sha256", "custom", "custom.assetvault",
        ]
        let inner = [
            "format", "id", "version", "policy", "tags", "traits", "openedSize", "contentKeyID", "pieces",
            "entries",
            "index",
            "index.length", "index.sha256", "catalog", "catalog.length", "catalog.sha256", "slots",
        ]
        for path in members + inner.map({ "custom.assetvault." + $0 }) {
            expectRefusal(path, nil)
            for value: JSONValue in [.null, .bool(true), -1, "-1"] { expectRefusal(path, value) }
        }
    }

    /// What no author may declare, no client takes from a record.
    @Test(arguments: ["", "a\u{1b}[2J", "line\nbreak", String(repeating: "x", count: 257)])
    func aTagIsAWord(_ tag: String) {
        expectRefusal("custom.assetvault.tags", [.string(tag)])
        expectRefusal("custom.assetvault.tags", ["level", .string(tag)])
        expectRefusal("custom.assetvault.withheldTags", [.string(tag)])
    }

    /// A client compares them with its device's: long ones would cost it time, and control characters spoil its records.
    @Test(arguments: ["", "a\u{1}", "line\nbreak", String(repeating: "x", count: 65)])
    func aTraitIsShortText(_ text: String) {
        let traits = "custom.assetvault.traits"
        let matching = "custom.assetvault.matching"
        expectRefusal(traits, .object(JSONObject(lastWins: [(text, 1)])))
        expectRefusal(traits, ["a": .string(text)])
        expectRefusal(matching, .object(JSONObject(lastWins: [(text, ["match": "nearest"])])))
        expectRefusal(matching, ["a": ["match": "word", "fallback": [.string(text)]]])
    }

    private static let conditions: JSONObject = [
        "scale": ["match": "numberRange", "above": 1, "upTo": 2],
        "language": ["match": "languageAmong", "among": ["de", "en"], "fallback": ["en"]],
        "hdr": ["match": "wordAmong", "among": ["false", "true"]],
    ]

    @Test func conditions() throws {
        var manifest = sealed.manifest
        manifest.offer.traits = ["scale": 2, "language": "de", "hdr": true]
        manifest.offer.devices = [
            "scale": .number(above: 1, upTo: 2),
            "language": .value("de", among: ["de", "en"], .language(fallback: ["en"])),
            "hdr": .value("true", among: ["false", "true"], .word(fallback: [])),
        ]
        #expect(try PackManifest(parsing: manifest.json, place: "test") == manifest)
        #expect(manifest.offer.json["matching"] == .object(Self.conditions))
        // A client that does not know conditions would choose among whole packs: it finds that it needs a newer release.
        for (_, value) in Self.conditions {
            let error = #expect(throws: VaultError.self) {
                try TraitMatching(parsing: value.asObject(at: "test"), place: "test")
            }
            #expect(error?.remedy.contains("release") == true, "\(error?.remedy ?? "")")
        }
        // Their values are those of the pack.
        let many = (0..<129).map { JSONValue.string("v\($0)") }
        for among: JSONValue in [["en", "fr"], [], .array(many + ["de"]), ["de", ""], "de"] {
            expectRefusal("custom.assetvault.matching", ["language": ["match": "wordAmong", "among": among]])
        }
        for value: JSONValue in [1, "x", [:], true] {
            let rule: JSONValue = ["scale": ["match": "numberRange", "above": value == 1 ? "1" : value]]
            expectRefusal("custom.assetvault.matching", rule)
        }
    }

    @Test func traitsAreFew() {
        let texts = (0..<33).map { JSONValue.string("t\($0)") }
        expectRefusal("custom.assetvault.matching", ["a": ["match": "language", "fallback": .array(texts)]])
        expectRefusal(
            "custom.assetvault.traits", .object(JSONObject(lastWins: (0..<33).map { ("t\($0)", 1) })))
        for value: JSONValue in [.null, [:], ["a"]] {
            expectRefusal("custom.assetvault.traits", ["a": value])
        }
    }

    @Test func tagsDiffer() { expectRefusal("custom.assetvault.tags", ["a", "b", "a"]) }

    @Test(arguments: [
        "format", "version", "openedSize", "pieces", "entries", "index.length", "catalog.length",
    ]) func impossibleNumbers(_ name: String) {
        for value in [Int64.min, -1, .max, JSONValue.integerRange.upperBound + 1] {
            expectRefusal("custom.assetvault.\(name)", .integer(value))
        }
    }

    @Test func contradictoryNumbersAreRefused() {
        let vault = "custom.assetvault."
        expectRefusal("length", 0)
        expectRefusal("length", 192)
        expectRefusal("length", .integer(.max))
        expectRefusal(vault + "format", 0)
        expectRefusal(vault + "format", 2)
        expectRefusal(vault + "pieces", 1)
        expectRefusal(vault + "pieces", .integer(1 << 32))
        expectRefusal(vault + "index.length", 36)
        expectRefusal(vault + "catalog.length", .integer(Int64(sealed.bytes.count)))
        expectRefusal(vault + "catalog.length", .integer(1 << 26 + 1 << 17))
        expectRefusal(vault + "entries", .integer(1 << 22 + 1))
        var json = changed(vault + "pieces", .integer(1 << 21 + 1), in: sealed.manifest.json)
        json = changed(vault + "index.length", .integer(36 * (1 << 21 + 1)), in: json)
        json = changed("length", .integer(1 << 40), in: json)
        #expect(throws: VaultError.self) { try PackManifest(parsing: json, place: "test") }
    }

    /// The largest catalog is 64 MiB and its codec, sealed.
    @Test func catalogLengthIsLimited() throws {
        let vault = "custom.assetvault."
        let largest: Int64 = 56 + (64 << 20 + 1) + 16 * 4097
        func parse(_ count: Int64) throws -> PackManifest {
            let json = changed("length", .integer(1 << 40), in: sealed.manifest.json)
            return try PackManifest(
                parsing: changed(vault + "catalog.length", .integer(count), in: json), place: "test")
        }
        #expect(try parse(largest).catalogLength == UInt64(largest))
        #expect(throws: VaultError.self) { try parse(largest + 1) }
    }

    /// Each slot may cost a request to a key service.
    @Test func slotCountIsLimited() throws {
        let slots = "custom.assetvault.slots"
        for slot in [.object(sealed.manifest.slots[0].json), ["alg": "X-LATER"]] as [JSONValue] {
            let most = changed(
                slots, .array([JSONValue](repeating: slot, count: 64)), in: sealed.manifest.json)
            #expect(throws: Never.self) { try PackManifest(parsing: most, place: "test") }
            expectRefusal(slots, .array([JSONValue](repeating: slot, count: 65)))
        }
    }

    @Test func firstPiecesAreInThePack() throws {
        let first = "custom.assetvault.first"
        let count = Int64(sealed.manifest.pieceCount)
        func pair(_ start: Int64, _ length: Int64) -> JSONValue {
            .array([.integer(start), .integer(length)])
        }
        let whole: [JSONValue] = [[pair(0, count)], [pair(count - 1, 1), pair(0, 1)], []].map(
            JSONValue.array)
        for value in whole {
            let json = changed(first, value, in: sealed.manifest.json)
            let parsed = try PackManifest(parsing: json, place: "test")
            #expect(try PackManifest(parsing: parsed.json, place: "test") == parsed)
        }
        let refused: [JSONValue] = [
            pair(0, 0), pair(0, count + 1), pair(count, 1), pair(-1, 1), pair(1, .max), pair(.max, 1),
            pair(0, -1),
            .array([.integer(0)]), .array([.integer(0), .integer(1), .integer(1)]), .integer(0),
            .array([.string("0"), .integer(1)]),
        ]
        for value in refused { expectRefusal(first, .array([value])) }
        expectRefusal(first, .integer(1))
        expectRefusal(first, .array(Array(repeating: pair(0, 1), count: 257)))
        for twice in [
            [pair(0, 1), pair(0, 1)], [pair(1, 1), pair(0, 2)], [pair(0, count), pair(count - 1, 1)],
        ] {
            expectRefusal(first, .array(twice))
        }
    }

    @Test(arguments: ["", "a b", "../x", "a/b", "kid\u{0}", "-\n", String(repeating: "k", count: 65)])
    func invalidKeyIDsOfSlotsAreRefused(_ id: String) {
        var slot = sealed.manifest.slots[0].json
        slot["kid"] = .string(id)
        expectRefusal("custom.assetvault.slots", .array([.object(slot)]))
    }

    @Test func invalidValuesAreRefused() {
        let vault = "custom.assetvault."
        for digest in [
            "", String(repeating: "a", count: 63), String(repeating: "A", count: 64),
            "g" + String(repeating: "0", count: 63),
        ] {
            for path in ["hashes.sha256", vault + "index.sha256", vault + "catalog.sha256"] {
                expectRefusal(path, .string(digest))
            }
        }
        for id in ["", "A", "a//b", "a/..", "current"] { expectRefusal(vault + "id", .string(id)) }
        for policy in ["", "Essential", "ondemand"] { expectRefusal(vault + "policy", .string(policy)) }
        for id in ["", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAAA=="] {
            expectRefusal(vault + "contentKeyID", .string(id))
        }
        expectRefusal(vault + "tags", .array([1]))
        expectRefusal(vault + "traits", .array([]))
        expectRefusal(vault + "slots", .array(["slot"]))
        expectRefusal(vault + "slots", .array([.object([:])]))
    }

    @Test func unknownMembersAreIgnored() throws {
        var json = sealed.manifest.json
        for path in [
            "more", "hashes.sha512", "custom.other", "custom.assetvault.later",
            "custom.assetvault.index.more",
        ] {
            json = changed(path, ["deep": .array([1])], in: json)
        }
        #expect(try PackManifest(parsing: json, place: "test") == sealed.manifest)
        let unknown: JSONValue = ["alg": "X-LATER", "anything": 1]
        json = changed("custom.assetvault.slots", .array([unknown]), in: json)
        #expect(try PackManifest(parsing: json, place: "test").slots.isEmpty)
    }

    @Test func formatOfATarget() {
        #expect(PackManifest.format(of: sealed.manifest.json) == 1)
        #expect(
            PackManifest.format(of: changed("custom.assetvault.format", 9, in: sealed.manifest.json)) == 9
        )
        #expect(PackManifest.format(of: [:]) == nil)
        #expect(PackManifest.format(of: changed("custom.assetvault", 1, in: sealed.manifest.json)) == nil)
    }

    @Test func otherFilesAreRefused() throws {
        let folder = try TemporaryFolder()
        let text = String(decoding: PackManifestFile.bytes(of: sealed.manifest), as: UTF8.self)
        let pack = folder.path.appending("pack")
        #expect(throws: VaultError.self) { try PackManifestFile.read(beside: pack) }
        for wrong in [
            "", "[]", "null", String(text.dropLast(3)), text + "{}",
            text.replacing("\"length\"", with: "\"length\": 1, \"length\""),
            text.replacing("\"version\": 3", with: "\"version\": 3.0"),
            "{\"a\":\"" + String(repeating: "a", count: 1 << 20) + "\"}",
        ] {
            try folder.write("pack.json", Array(wrong.utf8))
            let error = #expect(throws: VaultError.self) { try PackManifestFile.read(beside: pack) }
            #expect(error?.category == .corrupt, "\(wrong.prefix(40))")
        }
    }
}
