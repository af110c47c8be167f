import Foundation
import StrictJSON
import SystemPackage
import Testing

/// Deliveries made to stop the studio's publishing, or to make it slow and large.
@Suite(.timeLimit(.minutes(10))) struct TeamDeliveryAttackTests {
    let studio: Studio
    private var testSite: TestSite { studio.testSite }
    private var folder: TemporaryFolder { studio.folder }

    init() async throws { studio = try await Studio() }

    enum Attack: String, CaseIterable, Sendable {
        case sparseMetadata, sparsePack, fullOfHoles, unreadableMetadata, unreadablePack, linkLoop,
            packLinkLoop,
            metadataIsAFile, manyFilesNotSigned
    }

    private func makeSparse(_ name: String, size: UInt64) throws {
        try folder.write(name, "")
        let file = try #require(FileHandle(forWritingAtPath: folder[name]))
        try file.truncate(atOffset: size)
        try file.close()
    }

    /// Signs a record of one file of the team with another length, and puts a file without content there.
    private func forgeSparsePack(size: UInt64) async throws {
        let digest = String(repeating: "ab", count: 32)
        try await studio.forgeTeam(version: 2) { signed in
            var targets = signed["targets"]?.members ?? [:]
            guard var record = targets["packs/dlc1/one.avpack"]?.members else { return }
            record["length"] = .integer(Int64(size))
            record["hashes"] = ["sha256": .string(digest)]
            targets["packs/dlc1/one.avpack"] = .object(record)
            signed["targets"] = .object(targets)
        }
        try makeSparse("team/site/targets/packs/dlc1/\(digest).one.avpack", size: size)
    }

    private func newPack() async throws -> String {
        let before = Set(try Tree(studio.team).files)
        try folder.write("one/file", "the team's second")
        try await studio.publishTeam()
        return try #require(
            try Tree(studio.team).files.first { !before.contains($0) && $0.hasSuffix(".avpack") })
    }

    private func prepare(_ attack: Attack) async throws {
        let metadata = "team/site/metadata"
        switch attack {
        case .sparseMetadata: try makeSparse("\(metadata)/2.dlc1.json", size: 10 << 40)
        case .sparsePack: try await forgeSparsePack(size: 10 << 40)
        case .fullOfHoles: try await forgeSparsePack(size: 100 << 20)
        case .unreadableMetadata: try folder.setPermissions(metadata, 0)
        case .unreadablePack: try folder.setPermissions("team/\(try await newPack())", 0)
        case .linkLoop:
            try FileManager.default.removeItem(atPath: folder[metadata])
            try await Tool.run("ln", "-s", "metadata", folder[metadata])
        case .packLinkLoop:
            let pack = "team/\(try await newPack())"
            try FileManager.default.removeItem(atPath: folder[pack])
            try await Tool.run("ln", "-s", folder[pack], folder[pack])
        case .metadataIsAFile:
            try FileManager.default.removeItem(atPath: folder[metadata])
            try folder.write(metadata, "no folder")
        case .manyFilesNotSigned:
            for version in 2..<200 { try makeSparse("\(metadata)/\(version).dlc1.json", size: 60_000_000) }
        }
    }

    /// The studio's packs are published, the site keeps what it lists of the team, and dry runs say so, too.
    @Test(arguments: Attack.allCases) func aFolderThatCanNotBeImported(_ attack: Attack) async throws {
        let team = try Tree(folder["one"])
        try await prepare(attack)
        try folder.write("level/file", "the studio's second")
        // Not even root may read what nobody may.
        let unprivileged =
            geteuid() == 0 ? ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] : []
        defer { try? folder.setPermissions("team/site/metadata", 0o755) }
        try await Command.run(["plan", testSite.vault], through: unprivileged).succeeded()
        for arguments in [["--dry-run"], []] {
            let result = try await Command.run(
                ["publish", testSite.vault] + arguments, through: unprivileged
            ).succeeded()
            #expect(result.errorText.contains("the team 'dlc1' stays at version 1"), "\(result.errorText)")
        }
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        #expect(try await testSite.tree(of: "dlc1/one") == team)
        let site = try FileManager.default.subpathsOfDirectory(atPath: testSite.site)
        #expect(!site.contains { $0.contains("abababab") }, "\(site)")
    }

    /// Every client of the site would download and keep them.
    @Test func largeMembersThatNobodyKnows() async throws {
        let large: JSONValue = .string(String(repeating: "x", count: 100_000))
        try await studio.forgeTeam(version: 2) { $0["x-large"] = large }
        try await studio.keepsTheLast(naming: "its signed part has 1000", "of unknown members")
        try await studio.forgeTeam(version: 3) { signed in
            signed["x-large"] = nil
            var targets = signed["targets"]?.members ?? [:]
            var record = targets["packs/dlc1/one.avpack"]?.members ?? [:]
            var custom = record["custom"]?.members ?? [:]
            custom["x-large"] = large
            record["custom"] = .object(custom)
            targets["packs/dlc1/one.avpack"] = .object(record)
            signed["targets"] = .object(targets)
        }
        try await studio.keepsTheLast(naming: "packs/dlc1/one.avpack has 1000", "of unknown members")
    }

    /// The site has no copy of what is no pack, and a host needs all that is listed.
    @Test func aTargetThatIsNoPack() async throws {
        let readme: JSONValue = [
            "length": 5, "hashes": ["sha256": .string(String(repeating: "ab", count: 32))],
        ]
        let names = ["readme.txt", "UPPER.avpack", "a\nb", String(repeating: "x", count: 4000)]
        try await studio.forgeTeam(version: 2) { signed in
            var targets = signed["targets"]?.members ?? [:]
            for name in names { targets["packs/dlc1/\(name)"] = readme }
            signed["targets"] = .object(targets)
        }
        try await studio.keepsTheLast(naming: "which is no pack")
        try await Command.run("upload", testSite.site, folder["host"]).succeeded()
        // A site that lists it already, then one that did.
        let listed = try folder.bytes("team/site/metadata/2.dlc1.json")
        try folder.write("vault/site/metadata/2.dlc1.json", listed)
        try await testSite.raise([], to: 2, listing: ["dlc1": 2])
        try await Command.run("upload", testSite.site, folder["host"]).succeeded()
        try await testSite.fetch(folder["host"]).succeeded()
        try await studio.forgeTeam(version: 3) { signed in
            var targets = signed["targets"]?.members ?? [:]
            for name in names { targets["packs/dlc1/\(name)"] = nil }
            signed["targets"] = .object(targets)
        }
        try folder.write("level/file", "the studio's second")
        try await testSite.publish()
        try await Command.run("upload", testSite.site, folder["host"]).succeeded()
        try await testSite.fetch(folder["host"]).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// The name of a file says its digest, and not its length.
    @Test func anotherLengthOfAnImportedPack() async throws {
        try await studio.forgeTeam(version: 2) { signed in
            var targets = signed["targets"]?.members ?? [:]
            guard var record = targets["packs/dlc1/one.avpack"]?.members,
                let length = record["length"]?.number
            else { return }
            record["length"] = .integer(length + 1)
            targets["packs/dlc1/one.avpack"] = .object(record)
            signed["targets"] = .object(targets)
        }
        try await studio.keepsTheLast(naming: "not the file that the team signed for")
        try await Command.run("upload", testSite.site, folder["host"]).succeeded()
    }

    /// Packs that were copied before one was refused would fill the studio's disk.
    @Test func nothingStaysOfARefusedDelivery() async throws {
        let before = try Tree("\(testSite.site)/targets")
        try studio.declareTeam(Dictionary(uniqueKeysWithValues: (0..<6).map { ("dlc1/p\($0)", [:]) }))
        try await studio.publishTeam()
        let last = try #require(try Tree(studio.team).files.filter { $0.hasSuffix(".p5.avpack") }.last)
        var bytes = try folder.bytes("team/\(last)")
        bytes[bytes.count - 1] ^= 1
        try folder.write("team/\(last)", bytes)
        try await studio.keepsTheLast(naming: "not the file that the team signed for")
        #expect(try Tree("\(testSite.site)/targets") == before)
    }

    @Test func moreTagsThanAPackMayHave() async throws {
        try await studio.forgeTeam(version: 2) { signed in
            var targets = signed["targets"]?.members ?? [:]
            guard var record = targets["packs/dlc1/one.avpack"]?.members,
                var custom = record["custom"]?.members, var vault = custom["assetvault"]?.members
            else { return }
            vault["tags"] = .array((0..<257).map { .string("t\($0)") })
            custom["assetvault"] = .object(vault)
            record["custom"] = .object(custom)
            targets["packs/dlc1/one.avpack"] = .object(record)
            signed["targets"] = .object(targets)
        }
        try await studio.keepsTheLast(naming: "no client can read", "257 tags, more than 256")
    }

    enum Excess: String, CaseIterable, Sendable { case bytes, values }

    /// The team's metadata as version 2, signed by other means: the command refuses to.
    private func excessive(_ excess: Excess) async throws -> [UInt8] {
        var document: JSONObject = try folder.json("team/site/metadata/1.dlc1.json")
        var signed = try #require(document["signed"]?.members)
        signed["version"] = 2
        signed["x-large"] =
            switch excess {
            case .bytes: .string(String(repeating: "x", count: 5_000_000))
            case .values: .array(.init(repeating: 1, count: 1_800_000))
            }
        try folder.write("signed", JSONValue.object(signed).canonical())
        try await Tool.run(
            "openssl", "pkeyutl", "-sign", "-rawin", "-inkey", folder["team/keys/dlc1.pem"], "-in",
            folder["signed"], "-out", folder["signature"])
        let signature = try folder.bytes("signature").map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        let keyID = try #require(document["signatures"]?.elements?.first?["keyid"])
        document["signatures"] = [["keyid": keyID, "sig": .string(signature)]]
        document["signed"] = .object(signed)
        return JSONValue.object(document).compact()
    }

    /// What a site lists already and no client reads is refused alone, until the team publishes again.
    @Test(arguments: Excess.allCases) func listedMetadataBeyondTheLimits(_ excess: Excess) async throws {
        let listed = try await excessive(excess)
        try folder.write("team/site/metadata/2.dlc1.json", listed)
        try folder.write("vault/site/metadata/2.dlc1.json", listed)
        try await testSite.raise([], to: 2, listing: ["dlc1": 2])
        try folder.write("level/file", "the studio's second")
        let refusal = "clients refuse the team 'dlc1'"
        for arguments in [["--dry-run"], []] {
            let publication = try await Command.run(["publish", testSite.vault] + arguments).succeeded()
            #expect(publication.errorText.contains("the team 'dlc1' stays at version 2"))
            #expect(arguments != [] || publication.errorText.contains(refusal), "\(publication.errorText)")
        }
        let fetched = try await testSite.fetch()
        #expect(fetched.exitCode == 76 && fetched.errorText.contains("2.dlc1.json"), "\(fetched.errorText)")
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        let upload = try await Command.run("upload", testSite.site, folder["host"]).succeeded()
        #expect(upload.errorText.contains("what 'dlc1' lists is left out"), "\(upload.errorText)")
        let audit = try await Command.run(["audit", testSite.site] + testSite.keys)
        let found = String(decoding: audit.output, as: UTF8.self) + audit.errorText
        #expect(audit.exitCode == 76 && found.contains("2.dlc1.json"), "\(found)")

        // The destination has it already, and a machine publishes that has nothing else.
        try folder.write("host/metadata/2.dlc1.json", listed)
        try await Command.run("upload", testSite.site, folder["host"]).succeeded()
        try folder.write("level/file", "the studio's third")
        let other = try await Command.run("publish", testSite.vault, "--against", folder["host"]).succeeded()
        let reason = excess == .bytes ? "4000000" : "too many values"
        #expect(
            other.errorText.contains("\(refusal): ") && other.errorText.contains(reason),
            "\(other.errorText)")

        try await Command.run("upload", testSite.site, folder["host"]).succeeded()
        try FileManager.default.removeItem(atPath: folder["team/site/metadata/2.dlc1.json"])
        try await studio.forgeTeam(version: 3)
        try await Command.run("publish", testSite.vault, "--against", folder["host"]).succeeded()
        try await Command.run("upload", testSite.site, folder["host"]).succeeded()
        try await testSite.fetch(folder["host"]).succeeded()
        for (id, source) in [("dlc1/one", "one"), ("level", "level")] {
            #expect(try await testSite.tree(of: id) == Tree(folder[source]))
        }
    }

    /// The limits are those of teams: an undivided list of the studio's own may have more bytes and more short texts.
    @Test func aLongListOfTheStudio() async throws {
        try testSite.settings { $0["channels"] = ["beta", "live"] }
        try await testSite.publish()
        for role in ["packs", "channel.beta"] {
            let version = try await testSite.forge(role, key: "targets") {
                $0["x-later"] = .array(
                    .init(repeating: "t", count: 1_000_000) + [
                        .string(String(repeating: "x", count: 16_000_000))
                    ])
            }
            try await testSite.raise([], to: version, listing: [role: version])
        }
        try folder.write("level/file", "the studio's second")
        try await testSite.publish()
        try await Command.run("promote", testSite.vault, "--all", "--from", "beta", "--to", "live")
            .succeeded()
        let newest = try #require(
            try folder.names(in: "vault/site/metadata").filter { $0.hasSuffix(".packs.json") }
                .max { $0.localizedStandardCompare($1) == .orderedAscending })
        #expect(try folder.bytes("vault/site/metadata/\(newest)").count > 20_000_000)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try await Command.run("upload", testSite.site, folder["host"]).succeeded()
        try await testSite.fetch(folder["host"], into: folder["other"]).succeeded()
    }

    /// More packs than a process may open files.
    @Test func manyPacks() async throws {
        let pack: JSONObject = ["tags": ["both"]]
        try studio.declareTeam(
            Dictionary(uniqueKeysWithValues: (0..<120).map { ("dlc1/p\($0)", pack) }))
        try await studio.publishTeam()
        try studio.grant(["both"])
        try testSite.settings {
            $0["packs"] = ["level": ["source": .string(folder["level"]), "tags": ["both"]]]
        }
        let few = Command.shell("ulimit -n 96; exec \"$@\"")
        let plan = try await Command.run(["plan", testSite.vault], through: few).succeeded()
        #expect(plan.errorText.contains("'file' differs between 'level'"), "\(plan.errorText)")
        #expect(plan.errorText.contains("more paths have different content"), "\(plan.errorText)")
        // 64 packs have a path before one is not compared with those after it.
        #expect(plan.errorText.contains("56 files of teams were not compared"), "\(plan.errorText)")
        try await testSite.publish(through: few)
    }

    /// Two teams fill the same paths: each of 16,384 files of one would be compared with 32 of the other.
    @Test func pathsThatTwoTeamsFill() async throws {
        for number in 0..<512 { try folder.write("one/\(number)", "of the first") }
        let tagged: JSONObject = ["tags": ["both"]]
        try studio.declareTeam(Dictionary(uniqueKeysWithValues: (0..<32).map { ("dlc1/p\($0)", tagged) }))
        try await studio.publishTeam()
        let other = folder["other"]
        try await Command.run("init", other, "--team", "dlc2").succeeded()
        try await Tool.run("cp", folder["vault/keys/vault.jwks"], folder["other/keys/vault.jwks"])
        var settings: JSONObject = try folder.json("other/vault.json")
        let pack: JSONValue = ["source": .string(folder["two"]), "tags": ["both"]]
        for number in 0..<512 { try folder.write("two/\(number)", "of the second team") }
        settings["packs"] = .object(JSONObject(lastWins: (0..<32).map { ("dlc2/p\($0)", pack) }))
        try folder.write("other/vault.json", JSONValue.object(settings).pretty())
        try await Command.run("publish", other).succeeded()
        try studio.grant(["both"])
        try testSite.settings {
            var teams = $0["teams"]?.members ?? [:]
            teams["dlc2"] = [
                "paths": ["packs/dlc2/*"], "keys": ["../other/dlc2.pub.pem"], "threshold": 1,
                "site": "../other/site", "tags": ["both"],
            ]
            $0["teams"] = .object(teams)
        }
        let plan = try await Command.run("plan", testSite.vault).succeeded()
        #expect(plan.errorText.contains("8192 files of teams were not compared"), "\(plan.errorText)")
    }

    /// A file of the studio that many packs of a team have, too, is read once for all of them.
    @Test func equalFilesOfManyPacks() async throws {
        let size = 4 << 20
        try folder.write("level/file", [UInt8](repeating: 0, count: size))
        try folder.write("one/file", [UInt8](repeating: 0, count: size))
        let pack: JSONObject = ["tags": ["both"]]
        try studio.declareTeam(Dictionary(uniqueKeysWithValues: (0..<12).map { ("dlc1/p\($0)", pack) }))
        try await studio.publishTeam()
        try studio.grant(["both"])
        try testSite.settings {
            $0["packs"] = ["level": ["source": .string(folder["level"]), "tags": ["both"]]]
        }
        let log = folder["strace.log"]
        let plan = try await Command.run(
            ["plan", testSite.vault],
            through: ["strace", "-f", "-qq", "-o", log, "-e", "trace=pread64", "-P", folder["level/file"]]
        ).succeeded()
        #expect(!plan.errorText.contains("differs"), "\(plan.errorText)")
        let counts = String(decoding: try folder.bytes("strace.log"), as: UTF8.self)
            .split(separator: "\n").compactMap { line in line.split(separator: " ").last.flatMap { Int($0) } }
        #expect(counts.reduce(0, +) >= size)
        #expect(counts.reduce(0, +) < size + 1 << 16, "\(counts)")
    }
}
