import SystemPackage
import Testing
import VaultBase

/// What a leaked vault key opens, as the command reports it, equals what an outside decoder opens with the key and all metadata that
/// the site has.
struct KeyExposureTests {
    private let world: World

    init() async throws {
        world = try await World()
        try await world.run("keygen -o $VAULT/keys/press.jwks").succeeded()
        try world.declare(["film": ["for": ["press"]], "trailer": ["for": ["press"]], "menu": [:]]) {
            $0["channels"] = ["dev", "live"]
            $0["audiences"] = ["press": "file:keys/press.jwks"]
        }
        for round in 1...3 {
            for name in ["film", "trailer", "menu"] {
                try world.write("\(name)/file", "\(name) \(name == "trailer" ? 1 : round)")
            }
            try await world.publish()
            if round == 1 { try await world.promote("--all", from: "dev", to: "live").succeeded() }
        }
        try await world.copy("vault/keys/press.jwks", to: "leaked")
    }

    @Test func theReportIsWhatAnOutsideDecoderOpens() async throws {
        try await world.run("keys rekey $VAULT --audience press").succeeded()
        let old = try await expectEqual("keys rekey $VAULT --audience press --finish --json")
        #expect(old.contains("film 3") && old.contains("film 1") && old.contains("trailer 1"))
        let afterFilm = try await expectEqual("keys reseal $VAULT --pack film --json")
        #expect(afterFilm == ["trailer 1"])
        #expect(try await expectEqual("keys reseal $VAULT --all --json").isEmpty)
    }

    /// Runs a command that reports exposures; returns the listed versions that the leaked key opens.
    private func expectEqual(_ words: Words) async throws -> Set<String> {
        let result = try await world.run(words)
        try #require(result.exitCode == 0, "\(result.errorText)")
        let reported = try #require(try result.json()["exposures"]?.elements?.first?["packs"]?.elements)
        let judged = try await judged()
        var open: Set<String> = []
        for pack in reported {
            let name = "\(pack["id"]?.text ?? "") \(pack["version"]?.number ?? 0)"
            let isOpen = pack["access"]?.text != "none"
            #expect(judged[name] == .bool(isOpen), "\(name): \(pack["access"]?.text ?? "")")
            if isOpen { open.insert(name) }
        }
        return open
    }

    private func judged() async throws -> JSONObject {
        let script = FilePath(#filePath)
            .removingLastComponent().removingLastComponent().removingLastComponent()
            .appending("Interop/pack/exposure.py")
        let result = try await Tool.run(
            [try Tool.python(), script.string, world.site, world["leaked"]],
            environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        return try #require(try result.json().members, "\(result.errorText)")
    }
}
