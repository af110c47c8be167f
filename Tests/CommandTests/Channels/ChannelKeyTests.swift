import Foundation
import StrictJSON
import Testing

/// A replaced vault key opens nothing in any channel, and what it still opens is said.
@Suite(.timeLimit(.minutes(5))) struct ChannelKeyTests {
    let site: ChannelSite
    private var folder: TemporaryFolder { site.folder }
    private let second: [String]

    init() async throws {
        site = try await ChannelSite()
        try await Command.run("keygen", "-o", site.folder["second.jwks"]).succeeded()
        second = ["--keys", "file:\(site.folder["second.jwks"])"]
    }

    private func publish(_ options: [String]) async throws -> CommandResult {
        try await Command.run(["publish", site.testSite.vault] + options).succeeded()
    }

    private func keyID(_ name: String) throws -> String {
        try #require(try folder.json(name)["keys"]?.elements?.first?["kid"]?.text)
    }

    /// The keys of each pack that a channel lists.
    private func keys(in channel: String, at site: String? = nil) async throws -> [String: [String]] {
        let answer = try await Command.run(
            "list", site ?? self.site.testSite.site, "--channel", channel, "--json"
        ).succeeded().json()
        return try #require(answer["packs"]?.elements).reduce(into: [:]) { keys, pack in
            keys[pack["id"]?.text ?? ""] = (pack["keys"]?.elements ?? []).compactMap(\.text)
        }
    }

    /// Versions 1, 2 and 3 of the pack are listed in three channels.
    @Test(arguments: [false, true]) func everyChannel(fromAHost: Bool) async throws {
        let (old, new) = (try keyID("vault/keys/vault.jwks"), try keyID("second.jwks"))
        let packs = try Tree("\(site.testSite.site)/targets")
        var against: [String] = []
        if fromAHost {
            try await Tool.run("cp", "-a", site.testSite.site, folder["host"])
            try await Tool.run("rm", "-r", site.testSite.site)
            against = ["--against", folder["host"]]
        }
        func upload() async throws {
            if fromAHost { try await Tool.run("cp", "-rT", site.testSite.site, folder["host"]) }
        }
        let host = fromAHost ? folder["host"] : site.testSite.site
        _ = try await publish(site.testSite.keys + second + against)
        try await upload()
        for channel in ["dev", "beta", "live"] {
            #expect(Set(try await keys(in: channel, at: host)["level"] ?? []) == [old, new])
        }
        let dry = try await publish(second + against + ["--dry-run"])
        let result = try await publish(second + against)
        try await upload()
        for said in [dry, result] {
            #expect(said.errorText.contains("level is no longer sealed for the vault key '\(old)'"))
            #expect(said.errorText.contains("holders of '\(old)' still read what was published before"))
            #expect(!said.errorText.contains("still opens"), "\(said.errorText)")
            #expect(
                said.text.contains("resealed  1 pack in the channel live, for other keys: level version 1"))
        }
        for channel in ["dev", "beta", "live"] {
            #expect(try await keys(in: channel, at: host)["level"] == [new])
        }
        #expect(try Tree("\(host)/targets") == packs)
        #expect(try await publish(second + against).errorText.contains("nothing changed"))
        try await Command.run(["audit", host, "--trust", site.testSite.root] + second).succeeded()
    }

    /// A pack that the sources make no more is still live, under the old key.
    @Test func whatStaysOpenIsNamed() async throws {
        let old = try keyID("vault/keys/vault.jwks")
        try folder.write("other/file", "other")
        try site.testSite.settings { $0["packs"] = ["other": ["source": .string(folder["other"])]] }
        _ = try await publish(site.testSite.keys + second)
        let result = try await publish(second + ["--json"])
        let warnings = try #require(try result.json()["warnings"]?.elements?.compactMap(\.text))
        #expect(
            warnings.contains {
                $0.contains("the vault key '\(old)' still opens what is listed: 'level' version")
                    && $0.contains("in the channel live")
            }, "\(warnings)")
        #expect(try await keys(in: "live")["level"] == [old])
    }

    /// Also where the publication itself drops no key, and each time again.
    @Test func whatStaysOpenIsNamedAlways() async throws {
        let old = try keyID("vault/keys/vault.jwks")
        try folder.write("other/file", "other")
        try site.testSite.settings { $0["packs"] = ["other": ["source": .string(folder["other"])]] }
        for attempt in 1...3 {
            let result = try await publish(second + (attempt == 2 ? ["--dry-run"] : []))
            #expect(
                result.errorText.contains(
                    "the vault key '\(old)' still opens what is listed: 'level' version 1 in the channel live, 'level' version 2 in the channel beta"
                )
                    || result.errorText.contains(
                        "the vault key '\(old)' still opens what is listed: 'level' version 2 in the channel beta, 'level' version 1 in the channel live"
                    ),
                "\(attempt): \(result.errorText)")
        }
        // While the old key is in use, nothing is said.
        let both = try await publish(site.testSite.keys + second)
        #expect(!both.errorText.contains("still opens"), "\(both.errorText)")
    }

    /// What is live opens with the new key alone.
    @Test func clientsOfEachChannel() async throws {
        _ = try await publish(site.testSite.keys + second)
        _ = try await publish(second)
        for (channel, content) in [("live", "version 1"), ("beta", "version 2"), ("dev", "version 3")] {
            let store = folder["store-\(channel)"]
            try await Command.run(
                [
                    "fetch", site.testSite.site, "--store", store, "--trust", site.testSite.root, "--channel",
                    channel,
                ] + second
            ).succeeded()
            let path = try await site.testSite.path(of: "level", in: store)
            #expect(try String(contentsOfFile: "\(path)/file", encoding: .utf8) == content)
        }
        try await site.promote("--all", from: "dev", to: "live").succeeded()
        #expect(try await site.listed(in: "live") == ["level": 3])
    }
}
