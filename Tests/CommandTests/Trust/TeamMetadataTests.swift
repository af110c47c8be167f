import Foundation
import StrictJSON
import Testing

/// What a team's metadata decide of tags, and what not: broken ones, and those that were not read again.
@Suite(.timeLimit(.minutes(5))) struct TeamMetadataTests {
    let studio: Studio
    private var testSite: TestSite { studio.testSite }
    private var folder: TemporaryFolder { studio.folder }

    init() async throws { studio = try await Studio() }

    /// What a team fails to publish closes no tag that it may not have.
    @Test(arguments: [nil, 16] as [Int64?]) func brokenMetadataOfATeam(bins: Int64?) async throws {
        for (tags, exitCode) in [([], 0), (["both"], 76)] as [([JSONValue], Int32)] {
            _ = try await studio.publish(granting: tags, bins: bins)
            let name = try #require(
                try folder.names(in: "vault/site/metadata").filter { $0.hasSuffix(".dlc1.json") }
                    .max { $0.localizedStandardCompare($1) == .orderedAscending })
            let path = "vault/site/metadata/\(name)"
            let sound = try folder.bytes(path)
            try folder.write(path, "{}")
            let store = folder["store-\(exitCode)"]
            let result = try await studio.access("both", in: store)
            #expect(result.exitCode == exitCode, "\(result.errorText)")
            if exitCode == 0 {
                #expect(try await studio.access("both", in: store, isOnline: false).text == "the studio's")
            }
            try folder.write(path, sound)
        }
    }

    /// A refresh for a tag of the studio reads no team's metadata: what is loaded of the team's tags stays open.
    @Test(arguments: [nil, 16] as [Int64?]) func aRefreshForAnotherTag(bins: Int64?) async throws {
        _ = try await studio.publish(granting: ["theirs"], bins: bins)
        #expect(try await studio.fetched("--tag", "theirs", into: folder["store"]) == ["dlc1/one"])
        try folder.write("one/file", "newer")
        _ = try await studio.publish(granting: ["theirs"], bins: bins)
        #expect(try await studio.fetched("--tag", "both", into: folder["store"]) == ["dlc1/one", "level"])
        for (isOnline, text) in [(false, "the team's"), (true, "newer"), (false, "newer")] {
            let result = try await studio.access("theirs", in: folder["store"], isOnline: isOnline)
            #expect(result.text == text, "\(result.errorText)")
        }
        // Without an earlier one nothing is known of them.
        _ = try await studio.fetched("--tag", "both", into: folder["other"])
        #expect(try await studio.access("theirs", in: folder["other"], isOnline: false).exitCode == 66)
    }

    /// What the site grants no more does not count by an earlier state either, nor does a team that it removed.
    @Test(arguments: [true, false]) func aWithdrawnGrant(isTeamKept: Bool) async throws {
        _ = try await studio.publish(granting: ["theirs"], bins: 16)
        #expect(try await studio.fetched("--tag", "theirs", into: folder["store"]) == ["dlc1/one"])
        if isTeamKept { try studio.grant([]) } else { try testSite.settings { $0["teams"] = nil } }
        // The index of the tag changes, too, and is not read.
        try testSite.settings {
            var packs = $0["packs"]?.members ?? [:]
            packs["third"] = ["source": .string(folder["level"]), "tags": ["theirs"]]
            $0["packs"] = .object(packs)
        }
        try await testSite.publish()
        _ = try await studio.fetched("level", into: folder["store"])
        let result = try await studio.access("theirs", in: folder["store"], isOnline: false)
        #expect(result.exitCode == 66 && result.text.isEmpty, "\(result.text)")
    }

    /// Two states of the site are never mixed: newer metadata of a team do not decide beside earlier ones of the studio.
    @Test(arguments: [nil, 16] as [Int64?]) func aRefreshForTheTeamsPack(bins: Int64?) async throws {
        try studio.declareTeam(["dlc1/one": ["tags": ["theirs"]]])
        try await studio.publishTeam()
        try testSite.settings {
            $0["packs"] = ["level": ["source": .string(folder["level"]), "tags": ["own"]]]
            $0["bins"] = bins.map { .integer($0) }
            $0["channels"] = bins == nil ? ["beta", "live"] : nil
        }
        try studio.grant(["both", "theirs"])
        try await testSite.publish()
        try await promote(isNeeded: bins == nil)
        #expect(try await studio.fetched("--all", into: folder["store"]) == ["dlc1/one", "level"])
        // Both packs get the tag.
        _ = try await studio.publish(granting: ["both", "theirs"], bins: bins)
        try await promote(isNeeded: bins == nil)
        _ = try await studio.fetched("dlc1/one", into: folder["store"])
        let offline = try await studio.access("both", in: folder["store"], isOnline: false)
        let own = try await studio.access("own", in: folder["store"], isOnline: false)
        if bins == nil {
            // Each refresh reads the role that lists the channel: all of the later state is known.
            #expect(offline.text == "the studio's", "\(offline.errorText)")
            #expect(own.exitCode == 67, "\(own.errorText)")
        } else {
            #expect(offline.exitCode == 66 && offline.text.isEmpty, "\(offline.text)")
            #expect(own.text == "the studio's", "\(own.errorText)")
        }
        let online = try await studio.access("both", in: folder["store"])
        #expect(online.text == "the studio's", "\(online.errorText)")
    }

    private func promote(isNeeded: Bool) async throws {
        guard isNeeded else { return }
        try await Command.run("promote", testSite.vault, "--all", "--from", "beta", "--to", "live")
            .succeeded()
    }

    /// With another number of bins their names mean other packs.
    @Test func anotherNumberOfBins() async throws {
        for number in 0..<8 { try folder.write("\(number)/file\(number)", "\(number)") }
        func publish(bins: Int64) async throws {
            try testSite.settings {
                $0["packs"] = .object(
                    JSONObject(
                        lastWins: (0..<8).map {
                            ("p\($0)", ["source": .string(folder["\($0)"]), "tags": ["both"]])
                        }))
                $0["bins"] = .integer(bins)
            }
            try await testSite.publish()
        }
        try studio.declareTeam(["dlc1/one": ["tags": ["both"]]])
        try await studio.publishTeam()
        try studio.grant(["both"])
        try await publish(bins: 16)
        _ = try await studio.fetched("--all", into: folder["store"])
        try await publish(bins: 8)
        for number in 0..<8 {
            let store = folder["store-\(number)"]
            try await Tool.run("cp", "-a", folder["store"], store)
            _ = try await studio.fetched("p\(number)", into: store)
            let result = try await Command.run(
                ["access", "both", "--store", store] + testSite.keys
                    + ["--", "sh", "-c", "ls \"$ASSETVAULT_RESOURCES\" | wc -l"])
            #expect(result.text.filter(\.isNumber) == "9", "\(number): \(result.errorText)")
        }
    }
}
