import SystemPackage
import Testing
import VaultBase

/// What a leaked vault key opens, as the command reports it, equals what an outside decoder opens with the key and all metadata that
/// the site has.
struct KeyExposureTests {
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        try await folder.run("init $WORK/vault").succeeded()
        try await folder.run("keygen -o $WORK/vault/keys/press.jwks").succeeded()
        let pack = { (source: String) -> JSONValue in
            ["source": .string("../\(source)"), "for": ["press"]]
        }
        try folder.edit("vault/vault.json") { settings in
            settings["channels"] = ["dev", "live"]
            settings["audiences"] = ["press": "file:keys/press.jwks"]
            settings["packs"] = [
                "film": pack("film"), "trailer": pack("trailer"), "menu": ["source": "../menu"],
            ]
        }
        for round in 1...3 {
            for name in ["film", "trailer", "menu"] {
                try folder.write("\(name)/file", "\(name) \(name == "trailer" ? 1 : round)")
            }
            try await folder.run("publish $WORK/vault").succeeded()
            if round == 1 {
                try await folder.run("promote $WORK/vault --all --from dev --to live").succeeded()
            }
        }
        try folder.copyKey("vault/keys/press.jwks", to: "leaked")
    }

    @Test func theReportIsWhatAnOutsideDecoderOpens() async throws {
        try await folder.run("keys rekey $WORK/vault --audience press").succeeded()
        let old = try await expectEqual("keys rekey $WORK/vault --audience press --finish --json")
        #expect(old.contains("film 3") && old.contains("film 1") && old.contains("trailer 1"))
        let afterFilm = try await expectEqual("keys reseal $WORK/vault --pack film --json")
        #expect(afterFilm == ["trailer 1"])
        #expect(try await expectEqual("keys reseal $WORK/vault --all --json").isEmpty)
    }

    /// Runs a command that reports exposures; returns the listed versions that the leaked key opens.
    private func expectEqual(_ words: Words) async throws -> Set<String> {
        let result = try await folder.run(words)
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
            [try Tool.python(), script.string, folder["vault/site"], folder["leaked"]],
            environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        return try #require(try result.json().members, "\(result.errorText)")
    }
}

extension TemporaryFolder {
    /// With its mode.
    fileprivate func copyKey(_ name: String, to other: String) throws {
        _ = try write(other, bytes(name), permissions: 0o600)
    }
}
