import Foundation
import SystemPackage
import Testing
import VaultBase

/// Deliveries made to stop the studio's publishing, or to make it slow and large.
@Suite(.timeLimit(.minutes(10))) struct TeamDeliveryAttackTests {
    let world: World

    init() async throws { world = try await .withTeam() }

    enum Attack: String, CaseIterable, Sendable {
        case sparseMetadata, sparsePack, fullOfHoles, unreadableMetadata, unreadablePack, linkLoop,
            packLinkLoop,
            metadataIsAFile, manyFilesNotSigned
    }

    /// Signs a record of one file of the team with another length, and puts a file without content there.
    private func forgeSparsePack(size: UInt64) async throws {
        let digest = String(repeating: "ab", count: 32)
        try await world.forgeTeam(version: 2) {
            try $0.change("targets", "packs/dlc1/one.avpack") { record in
                record["length"] = .integer(Int64(size))
                record["hashes"] = ["sha256": .string(digest)]
            }
        }
        try world.makeSparse("team/site/targets/packs/dlc1/\(digest).one.avpack", size: size)
    }

    private func newPack() async throws -> String {
        let before = Set(try Tree(world.team).files)
        try world.write("one/file", "the team's second")
        try await world.publishTeam()
        return try #require(
            try Tree(world.team).files.first { !before.contains($0) && $0.hasSuffix(".avpack") })
    }

    private func prepare(_ attack: Attack) async throws {
        let metadata = "team/site/metadata"
        switch attack {
        case .sparseMetadata: try world.makeSparse("\(metadata)/2.dlc1.json", size: 10 << 40)
        case .sparsePack: try await forgeSparsePack(size: 10 << 40)
        case .fullOfHoles: try await forgeSparsePack(size: 100 << 20)
        case .unreadableMetadata: try world.setPermissions(metadata, 0)
        case .unreadablePack: try world.setPermissions("team/\(try await newPack())", 0)
        case .linkLoop:
            try world.remove(metadata)
            try await Tool.run("ln", "-s", "metadata", world[metadata])
        case .packLinkLoop:
            let pack = "team/\(try await newPack())"
            try world.remove(pack)
            try await Tool.run("ln", "-s", world[pack], world[pack])
        case .metadataIsAFile:
            try world.remove(metadata)
            try world.write(metadata, "no folder")
        case .manyFilesNotSigned:
            for version in 2..<200 {
                try world.makeSparse("\(metadata)/\(version).dlc1.json", size: 60_000_000)
            }
        }
    }

    /// The studio's packs are published, the site keeps what it lists of the team, and dry runs say so, too.
    @Test(arguments: Attack.allCases) func aFolderThatCanNotBeImported(_ attack: Attack) async throws {
        let team = try Tree(world["one"])
        try await prepare(attack)
        try world.write("level/file", "the studio's second")
        // Not even root may read what nobody may.
        let unprivileged =
            geteuid() == 0 ? ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] : []
        defer { try? world.setPermissions("team/site/metadata", 0o755) }
        try await world.run("plan $VAULT", through: unprivileged).succeeded()
        for arguments in [["--dry-run"], []] {
            let result = try await world.run("publish $VAULT \(arguments)", through: unprivileged).succeeded()
            #expect(result.errorText.contains("the team 'dlc1' stays at version 1"), "\(result.errorText)")
        }
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
        #expect(try await world.tree(of: "dlc1/one") == team)
        let site = try FileManager.default.subpathsOfDirectory(atPath: world.site)
        #expect(!site.contains { $0.contains("abababab") }, "\(site)")
    }

    /// Every client of the site would download and keep them.
    @Test func largeMembersThatNobodyKnows() async throws {
        let large: JSONValue = .string(String(repeating: "x", count: 100_000))
        try await world.forgeTeam(version: 2) { $0["x-large"] = large }
        try await world.keepsTheLast(naming: "its signed part has 1000", "of unknown members")
        try await world.forgeTeam(version: 3) { signed in
            signed["x-large"] = nil
            try signed.change("targets", "packs/dlc1/one.avpack", "custom") { $0["x-large"] = large }
        }
        try await world.keepsTheLast(naming: "packs/dlc1/one.avpack has 1000", "of unknown members")
    }

    /// The site has no copy of what is not a pack, and a host needs all that is listed.
    @Test func aTargetThatIsNoPack() async throws {
        let readme: JSONValue = [
            "length": 5, "hashes": ["sha256": .string(String(repeating: "ab", count: 32))],
        ]
        let names = ["readme.txt", "UPPER.avpack", "a\nb", String(repeating: "x", count: 4000)]
        try await world.forgeTeam(version: 2) {
            try $0.change("targets") { targets in for name in names { targets["packs/dlc1/\(name)"] = readme }
            }
        }
        try await world.keepsTheLast(naming: "which is not a pack")
        try await world.run("upload $SITE $WORK/host").succeeded()
        // A site that lists it already, then one that did.
        let listed = try world.bytes("team/site/metadata/2.dlc1.json")
        try world.write("vault/site/metadata/2.dlc1.json", listed)
        try await world.raise([], to: 2, listing: ["dlc1": 2])
        try await world.run("upload $SITE $WORK/host").succeeded()
        try await world.fetch(from: world["host"]).succeeded()
        try await world.forgeTeam(version: 3) {
            try $0.change("targets") { targets in for name in names { targets["packs/dlc1/\(name)"] = nil } }
        }
        try await world.publish(level: "the studio's second")
        try await world.run("upload $SITE $WORK/host").succeeded()
        try await world.fetch(from: world["host"]).succeeded()
        try await world.expectLoaded("level")
    }

    /// The name of a file says its digest, and not its length.
    @Test func anotherLengthOfAnImportedPack() async throws {
        try await world.forgeTeam(version: 2) {
            try $0.change("targets", "packs/dlc1/one.avpack") { record in
                record["length"] = .integer(try #require(record["length"]?.number) + 1)
            }
        }
        try await world.keepsTheLast(naming: "not the file that the team signed for")
        try await world.run("upload $SITE $WORK/host").succeeded()
    }

    /// Packs that were copied before one was refused would fill the studio's disk.
    @Test func nothingStaysOfARefusedDelivery() async throws {
        let before = try Tree("\(world.site)/targets")
        try await world.publishTeam(packs: 6)
        let last = try #require(try Tree(world.team).files.filter { $0.hasSuffix(".p5.avpack") }.last)
        try world.flipBit(of: "team/\(last)", at: -1)
        try await world.keepsTheLast(naming: "not the file that the team signed for")
        #expect(try Tree("\(world.site)/targets") == before)
    }

    @Test func moreTagsThanAPackMayHave() async throws {
        try await world.forgeTeam(version: 2) {
            try $0.changePack("dlc1/one") { $0["tags"] = .array((0..<257).map { .string("t\($0)") }) }
        }
        try await world.keepsTheLast(naming: "no client can read", "257 tags, more than 256")
    }

    enum Excess: String, CaseIterable, Sendable { case bytes, values }

    /// The team's metadata as version 2, signed by other means: the command refuses to.
    private func excessive(_ excess: Excess) async throws -> [UInt8] {
        var document: JSONObject = try world.json("team/site/metadata/1.dlc1.json")
        var signed = try #require(document["signed"]?.members)
        signed["version"] = 2
        signed["x-large"] =
            switch excess {
            case .bytes: .string(String(repeating: "x", count: 5_000_000))
            case .values: .array(.init(repeating: 1, count: 1_800_000))
            }
        try world.write("signed", JSONValue.object(signed).canonical())
        try await Tool.run(
            "openssl", "pkeyutl", "-sign", "-rawin", "-inkey", world["team/keys/dlc1.pem"], "-in",
            world["signed"], "-out", world["signature"])
        let signature = try world.bytes("signature").map { byte in
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
        try world.write("team/site/metadata/2.dlc1.json", listed)
        try world.write("vault/site/metadata/2.dlc1.json", listed)
        try await world.raise([], to: 2, listing: ["dlc1": 2])
        try world.write("level/file", "the studio's second")
        let refusal = "clients refuse the team 'dlc1'"
        for arguments in [["--dry-run"], []] {
            let publication = try await world.run("publish $VAULT \(arguments)").succeeded()
            #expect(publication.errorText.contains("the team 'dlc1' stays at version 2"))
            #expect(arguments != [] || publication.errorText.contains(refusal), "\(publication.errorText)")
        }
        let fetched = try await world.fetch()
        #expect(fetched.exitCode == 76 && fetched.errorText.contains("2.dlc1.json"), "\(fetched.errorText)")
        try await world.expectLoaded("level")
        let upload = try await world.run("upload $SITE $WORK/host").succeeded()
        #expect(upload.errorText.contains("packs listed by 'dlc1' are left out"), "\(upload.errorText)")
        let audit = try await world.run("audit $SITE $KEYS")
        let found = audit.text + audit.errorText
        #expect(audit.exitCode == 76 && found.contains("2.dlc1.json"), "\(found)")

        // The destination has it already, and a machine publishes that has nothing else.
        try world.write("host/metadata/2.dlc1.json", listed)
        try await world.run("upload $SITE $WORK/host").succeeded()
        try world.write("level/file", "the studio's third")
        let other = try await world.run("publish $VAULT --against $WORK/host").succeeded()
        let reason = excess == .bytes ? "4000000" : "too many values"
        #expect(
            other.errorText.contains("\(refusal): ") && other.errorText.contains(reason),
            "\(other.errorText)")

        try await world.run("upload $SITE $WORK/host").succeeded()
        try world.remove("team/site/metadata/2.dlc1.json")
        try await world.forgeTeam(version: 3)
        try await world.run("publish $VAULT --against $WORK/host").succeeded()
        try await world.run("upload $SITE $WORK/host").succeeded()
        try await world.fetch(from: world["host"]).succeeded()
        for (id, source) in [("dlc1/one", "one"), ("level", "level")] {
            #expect(try await world.tree(of: id) == Tree(world[source]))
        }
    }

    /// The limits are those of teams: an undivided list of the studio's own may have more bytes and more short texts.
    @Test func aLongListOfTheStudio() async throws {
        try world.settings { $0["channels"] = ["beta", "live"] }
        try await world.publish()
        for role in ["packs", "channel.beta"] {
            let version = try await world.forge(role, key: "targets") {
                $0["x-later"] = .array(
                    .init(repeating: "t", count: 1_000_000) + [
                        .string(String(repeating: "x", count: 16_000_000))
                    ])
            }
            try await world.raise([], to: version, listing: [role: version])
        }
        try await world.publish(level: "the studio's second")
        try await world.run("promote $VAULT --all --from beta --to live").succeeded()
        let newest = try world.newestName(of: "packs", in: "vault/site/metadata")
        #expect(try world.bytes("vault/site/metadata/\(newest)").count > 20_000_000)
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
        try await world.run("upload $SITE $WORK/host").succeeded()
        try await world.fetch(from: world["host"], into: world["other"]).succeeded()
    }

    /// More packs than a process may open files.
    @Test func manyPacks() async throws {
        try await world.publishTeam(packs: 120, ["tags": ["both"]])
        try world.grant(["both"])
        try world.tagLevel(["both"])
        let few = Command.shell("ulimit -n 96; exec \"$@\"")
        let plan = try await world.run("plan $VAULT", through: few).succeeded()
        #expect(plan.errorText.contains("'file' differs between 'level'"), "\(plan.errorText)")
        #expect(plan.errorText.contains("more paths have different content"), "\(plan.errorText)")
        // 64 packs have a path before one is not compared with those after it.
        #expect(plan.errorText.contains("56 files of teams were not compared"), "\(plan.errorText)")
        try await world.publish(through: few)
    }

    /// Two teams fill the same paths: each of 16,384 files of one would be compared with 32 of the other.
    @Test func pathsThatTwoTeamsFill() async throws {
        for number in 0..<512 { try world.write("one/\(number)", "of the first") }
        try await world.publishTeam(packs: 32, ["tags": ["both"]])
        try await world.run("init $WORK/other --team dlc2").succeeded()
        try await world.copy("vault/keys/vault.jwks", to: "other/keys/vault.jwks")
        let pack: JSONValue = ["source": .string(world["two"]), "tags": ["both"]]
        for number in 0..<512 { try world.write("two/\(number)", "of the second team") }
        try world.edit("other/vault.json") {
            $0["packs"] = .object(JSONObject(lastWins: (0..<32).map { ("dlc2/p\($0)", pack) }))
        }
        try await world.run("publish $WORK/other").succeeded()
        try world.grant(["both"])
        try world.settings {
            try $0.change("teams") {
                $0["dlc2"] = [
                    "paths": ["packs/dlc2/*"], "keys": ["../other/dlc2.pub.pem"], "threshold": 1,
                    "site": "../other/site", "tags": ["both"],
                ]
            }
        }
        let plan = try await world.run("plan $VAULT").succeeded()
        #expect(plan.errorText.contains("8192 files of teams were not compared"), "\(plan.errorText)")
    }

    /// A file of the studio that many packs of a team have, too, is read once for all of them.
    @Test func equalFilesOfManyPacks() async throws {
        let size = 4 << 20
        for name in ["level", "one"] { try world.write("\(name)/file", [UInt8](repeating: 0, count: size)) }
        try await world.publishTeam(packs: 12, ["tags": ["both"]])
        try world.grant(["both"])
        try world.tagLevel(["both"])
        let tracing = Sandbox.tracing("pread64", to: world["strace.log"], on: world["level/file"])
        let plan = try await world.run("plan $VAULT", through: tracing).succeeded()
        #expect(!plan.errorText.contains("differs"), "\(plan.errorText)")
        let counts = try world.lines("strace.log").compactMap {
            $0.split(separator: " ").last.flatMap { Int($0) }
        }
        #expect(counts.reduce(0, +) >= size)
        #expect(counts.reduce(0, +) < size + 1 << 16, "\(counts)")
    }
}
