import Foundation
import Sampling
import Testing
import VaultBase

/// An upload that also removes what was pruned, killed at every step: clients find all that they may look for, and the next one
/// completes it. `Scripts/Sites/upload-prune.txt` has those that come to their end.
@Suite(.timeLimit(.minutes(15))) struct KilledHostPruningTests {
    let world: World
    private let clock: [String]
    private let next: Tree
    private let music: Tree

    /// The host has four versions, of which the last one has not expired; the site has a fifth, and has lost the first three.
    init() async throws {
        world = try await World()
        clock = try Clock.shifted(byDays: 41)
        try world.write("rclone.conf", "")
        try world.write("music/file", "a tune")
        for version in 1...5 {
            try world.write("level/file", "version \(version)")
            try await world.publish(
                "--pack level=$WORK/level --pack music=$WORK/music",
                through: version < 4 ? [] : Clock.shifted(byDays: 36 + version))
            if version == 3 { try await world.fetch(into: world["old"]).succeeded() }
            if version == 4 { try await world.copy("vault/site", to: "before") }
        }
        try await world.run("prune $VAULT --keep 1 --grace 0d", through: clock).succeeded()
        (next, music) = (try Tree(world["level"]), try Tree(world["music"]))
        let lost = try Tree(world["before"]).files.filter { try !world.exists("vault/site/\($0)") }
        try #require(lost.count { $0.hasSuffix(".avpack") } == 3, "\(lost)")
        try #require(lost.count { $0.hasSuffix(".json") } == 6, "\(lost)")
    }

    private func upload(
        to destination: String = "host", through wrapper: [String] = [], dyingAt step: String? = nil,
        _ environment: [String: String] = [:]
    ) async throws -> CommandResult {
        let search = "\(world["bin"]):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let variables = ["RCLONE_CONFIG": world["rclone.conf"], "PATH": search]
        return try await world.run(
            "upload $SITE \(destination) --prune", environment: variables.merging(environment) { $1 },
            workingDirectory: world.path, through: wrapper + clock, dyingAt: step)
    }

    /// Uploads to the host as it was, with something that may kill that; then everything must be as clients need it.
    private func killed(
        to destination: String = "host", _ hint: String, _ body: () async throws -> CommandResult
    ) async throws -> CommandResult {
        for name in ["host", "store", "fresh"] where try world.exists(name) { try world.remove(name) }
        try await world.copy("before", to: "host")
        try await world.copy("old", to: "store")
        let killed = try await body()
        try await expectValidHost(hint)
        guard killed.exitCode != 0 else { return killed }
        try await upload(to: destination).succeeded()
        #expect(try Tree(world["host"]) == Tree(world.site), "\(hint)")
        return killed
    }

    /// Nothing is missing that the newest metadata name, or the version before, which is valid yet; a client with an old store and a new
    /// one load one of both.
    private func expectValidHost(_ hint: String) async throws {
        try await world.run("audit $WORK/host $TRUST", through: clock).succeeded()
        let snapshot: JSONValue = try world.json("host/metadata/4.snapshot.json")
        let version = try #require(snapshot["signed", "meta", "targets.json", "version"]?.number)
        let targets: JSONValue = try world.json("host/metadata/\(version).targets.json")
        for name in ["level", "music"] {
            let digest = try #require(
                targets["signed", "targets", "packs/\(name).avpack", "hashes", "sha256"]?.text)
            #expect(try world.exists("host/targets/packs/\(digest).\(name).avpack"), "\(hint)")
        }
        for store in ["store", "fresh"] {
            try await world.fetch(from: world["host"], into: world[store], through: clock).succeeded()
            let level = try world.text("\(store)/permanent/level/current/file")
            #expect(["version 4", "version 5"].contains(level), "\(hint)")
            #expect(try await world.tree(of: "music", in: world[store]) == music, "\(hint)")
        }
    }

    @Test(arguments: ["unlink", "unlinkat", "renameat2", "fsync"])
    func inAFolder(call: String) async throws {
        let numbers = Sampling.numbers(1...40, each: 3, for: "KilledHostPruningTests \(call)")
        try await Killing.atEach(call, numbers, isAlwaysCalled: false) { number, wrapper in
            try await killed("\(call) \(number)") { try await upload(through: wrapper) }
        }
    }

    /// Killed behind each part that was sent or removed.
    @Test(arguments: ["host", ":local:host", "rsync:host"])
    func betweenTwoParts(destination: String) async throws {
        var kills = 0
        for part in 1...20 {
            let result = try await killed(to: destination, "part \(part)") {
                try await upload(to: destination, dyingAt: "upload:\(part)")
            }
            guard result.exitCode != 0 else { break }
            #expect(result.exitCode == 137, "\(result.errorText)")
            kills += 1
        }
        // Packs, targets, snapshot, timestamp; then packs and metadata are removed.
        #expect(kills == 6)
    }

    /// The tool and the upload die together when a part of the files of one list is removed.
    @Test(arguments: ["rclone", "rsync"], ["targets", "metadata"])
    func amongTheRemovals(tool: String, area: String) async throws {
        try world.write("bin/\(tool)", Self.dyingTool, permissions: 0o755)
        let destination = tool == "rclone" ? ":local:host" : "rsync:host"
        let counts = Array(0..<(area == "targets" ? 3 : 6))
        for count in counts.sample(2, for: "KilledHostPruningTests \(tool) \(area)") {
            let result = try await killed(to: destination, "\(tool) \(area) \(count)") {
                try await upload(to: destination, ["DYING_IN": area, "DYING_AFTER": "\(count)"])
            }
            #expect(result.exitCode == 137, "\(result.errorText)")
        }
    }

    private static let dyingTool = """
        #!/bin/sh
        tool=/usr/bin/${0##*/}
        case "$*" in delete\\ *|*--delete-missing-args*) ;; *) exec "$tool" "$@" ;; esac
        for word; do
            case $word in --files-from=*) list=${word#*=} ;; esac
            [ "$before" != --files-from-raw ] || list=$word
            before=$word
        done
        case $(head -n 1 "$list") in "$DYING_IN"/*|/"$DYING_IN"/*) ;; *) exec "$tool" "$@" ;; esac
        if [ "$DYING_AFTER" -gt 0 ]; then
            head -n "$DYING_AFTER" "$list" >"$list.part" && mv "$list.part" "$list" && "$tool" "$@"
        fi
        kill -9 "$PPID"
        """
}
