import StrictJSON
import Testing

/// Missing, wrong, badly protected and badly named keys.
struct KeyTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    /// Every subcommand that takes keys, with `specs`.
    private func commands(_ specs: [String]) -> [[String]] {
        [
            ["seal", samplePack.level, "-o", samplePack.folder["new.avpack"]],
            ["seal", samplePack.level, "-o", samplePack.folder["new.avpack"], "--previous", samplePack.pack],
            ["open", samplePack.pack, "-o", samplePack.folder["out"]],
            ["open", samplePack.pack, "--tar", "-"],
            ["cat", samplePack.pack, "run.sh"],
        ].map { $0 + specs.flatMap { ["--keys", $0] } }
    }

    private func allFail(
        _ code: Int32, _ specs: String..., naming part: String, hiding secrets: String...,
        environment: [String: String?] = [:], at location: SourceLocation = #_sourceLocation
    ) async throws {
        var commands = commands(specs)
        if !specs.isEmpty {
            commands.append(["inspect", samplePack.pack] + specs.flatMap { ["--keys", $0] })
        }
        try await samplePack.seal()
        try await samplePack.unchanged {
            for command in commands {
                let result = try await Command.run(command, environment: environment)
                result.failed(code, naming: part, at: location)
                for secret in secrets {
                    #expect(!result.errorText.contains(secret), sourceLocation: location)
                }
            }
        }
    }

    @Test func noKey() async throws { try await allFail(77, naming: "--keys") }

    @Test func wrongKey() async throws {
        try samplePack.folder.write("wrong.jwks", SamplePack.jwk(SamplePack.noise(32)), permissions: 0o600)
        try await samplePack.seal()
        try await samplePack.unchanged {
            for command in commands(["file:\(samplePack.folder["wrong.jwks"])"]).dropFirst() {
                try await Command.run(command).failed(77, naming: SamplePack.keyID)
            }
        }
    }

    @Test func keyOfAnotherName() async throws {
        try samplePack.folder.write(
            "other.jwks", SamplePack.jwk(SamplePack.secret, id: "other"), permissions: 0o600)
        try await samplePack.seal()
        try await samplePack.unchanged {
            for command in commands(["file:\(samplePack.folder["other.jwks"])"]).dropFirst() {
                try await Command.run(command).failed(77, naming: SamplePack.keyID)
            }
        }
    }

    @Test func unsetVariable() async throws {
        try await allFail(77, "env:NO_SUCH_KEY", naming: "NO_SUCH_KEY", environment: ["NO_SUCH_KEY": nil])
    }

    @Test func emptyVariable() async throws {
        try await allFail(77, "env:EMPTY_KEY", naming: "EMPTY_KEY", environment: ["EMPTY_KEY": ""])
    }

    @Test func missingFile() async throws {
        try await allFail(77, "file:\(samplePack.folder["absent"])", naming: samplePack.folder["absent"])
    }

    @Test(arguments: [0o644, 0o604, 0o640, 0o602, 0o620, 0o610] as [UInt16])
    func fileThatOthersCanAccess(permissions: UInt16) async throws {
        try samplePack.folder.write("open.jwks", SamplePack.jwk(SamplePack.secret), permissions: permissions)
        try await allFail(
            77, "file:\(samplePack.folder["open.jwks"])", naming: samplePack.folder["open.jwks"])
    }

    @Test(arguments: [
        "", "{}", "no JSON",
        #"{"kty":"oct","kid":"test-key","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh"}"#,
    ])
    func fileWithoutAKey(content: String) async throws {
        try samplePack.folder.write("bad.jwks", content, permissions: 0o600)
        try await allFail(
            77, "file:\(samplePack.folder["bad.jwks"])", naming: samplePack.folder["bad.jwks"],
            hiding: "AAECAwQF")
    }

    /// Whatever the JSON parser reports, the error says what is expected.
    @Test(arguments: [
        "no JSON", "[]", "{\"kty\"", "\u{0}\u{1}\u{2}", SamplePack.encodedSecret, "-----BEGIN KEY-----",
    ])
    func malformedKeySet(content: String) async throws {
        try samplePack.folder.write("bad.jwks", content, permissions: 0o600)
        try await allFail(
            77, "file:\(samplePack.folder["bad.jwks"])", naming: "is not a JWK or JWK Set", hiding: "AAECAwQF"
        )
    }

    @Test(arguments: [
        SamplePack.jwk(SamplePack.secret), SamplePack.encodedSecret, "env:" + SamplePack.encodedSecret,
        "key:" + SamplePack.encodedSecret,
        "AAECAwQFBgcICQ", "hex:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "file:", "env:", "",
    ])
    func keyOnTheCommandLine(spec: String) async throws {
        try await allFail(64, spec, naming: "--keys", hiding: "AAECAwQF", "00010203")
    }

    /// Every key source opens packs.
    @Test func everyKeySourceOpens() async throws {
        try await samplePack.seal()
        let jwk = SamplePack.jwk(SamplePack.secret)
        try samplePack.folder.write("secrets/test-key", jwk, permissions: 0o600)
        try samplePack.folder.write("program", "#!/bin/sh\necho '\(jwk)'\n", permissions: 0o755)
        let cat = ["cat", samplePack.pack, "run.sh", "--keys"]
        func opens(_ spec: String, _ input: String = "", through wrapper: [String] = []) async throws {
            let result = try await Command.run(
                cat + [spec], input: Array(input.utf8), environment: ["THE_KEY": jwk], through: wrapper)
            #expect(try result.succeeded().text == "#!/bin/sh\n", "\(spec)")
        }
        try await opens("env:THE_KEY")
        try await opens("fd:0", jwk)
        try await opens("fd:7", through: Command.shell("exec \"$@\" 7< '\(samplePack.keyFile)'"))
        try await opens("dir:\(samplePack.folder["secrets"])")
        try await opens("exec:\(samplePack.folder["program"])")
    }

    /// A pack may name the same key ID several times.
    @Test func keyCommandRunsOncePerID() async throws {
        try await samplePack.seal()
        var target: JSONObject = try samplePack.folder.json("level.avpack.json")
        let vault = try samplePack.manifest()
        let slot = try vault.array("slots", at: "")[0].asObject(at: "")
        let named: [String: JSONValue] = Dictionary(
            uniqueKeysWithValues: [SamplePack.keyID, "other", "--help"].map { id in
                var slot = slot
                slot["kid"] = .string(id)
                return (id, .object(slot))
            })
        let slots = (0..<20).flatMap { _ in ["other", "--help"] } + [SamplePack.keyID]
        var changed = vault
        changed["slots"] = .array(slots.compactMap { named[$0] })
        target["custom"] = .object(["assetvault": .object(changed)])
        try samplePack.folder.write("level.avpack.json", JSONValue.object(target).canonical())
        let log = samplePack.folder["asked"]
        try samplePack.folder.write(
            "program",
            "#!/bin/sh\necho \"$1\" >> '\(log)'\ntest \"$1\" != \(SamplePack.keyID) || cat '\(samplePack.keyFile)'\n",
            permissions: 0o755)
        try await Command.run(
            "cat", samplePack.pack, "run.sh", "--keys", "exec:\(samplePack.folder["program"])"
        )
        .succeeded()
        let asked = try String(decoding: samplePack.folder.bytes("asked"), as: UTF8.self).split(
            separator: "\n")
        // The content key itself is not asked for where a vault key opens the pack.
        #expect(asked.map(String.init) == ["other", SamplePack.keyID])
    }

    /// Every client looks up the key of each slot.
    @Test func sealsForAtMost64Keys() async throws {
        func write(_ count: Int) throws {
            let keys = (0..<count).map {
                SamplePack.jwk(SamplePack.noise(32, seed: UInt64($0) + 2), id: "key-\($0)")
            }
            try samplePack.folder.write(
                "many.jwks", #"{"keys":[\#(keys.joined(separator: ","))]}"#, permissions: 0o600)
        }
        let seal = [
            "seal", samplePack.level, "-o", samplePack.pack, "--keys",
            "file:\(samplePack.folder["many.jwks"])",
        ]
        try write(65)
        try await samplePack.unchanged {
            try await Command.run(seal).failed(64, naming: "64", "65", "vault keys")
        }
        try write(64)
        try await Command.run(seal).succeeded()
        #expect(try samplePack.manifest().array("slots", at: "").count == 64)
    }

    /// The first source holds another key with the same ID.
    @Test func laterSourcesAreTried() async throws {
        try await samplePack.seal()
        let cat = ["cat", samplePack.pack, "run.sh", "--keys", "env:WRONG"] + samplePack.keys
        let result = try await Command.run(cat, environment: ["WRONG": SamplePack.jwk(SamplePack.noise(32))])
        #expect(try result.succeeded().text == "#!/bin/sh\n")
    }
}
