import Foundation
import Sampling
import TestFiles
import Testing

/// Uploads that are killed, and uploads over the network. `Scripts/Sites/upload-fault.txt` has tools that fail.
struct UploadFaultTests {
    let world: World
    private var host: String { world["host"] }

    init() async throws {
        world = try await World("one", "two", "three")
        try world.write("rclone.conf", "")
    }

    /// A newer site than the host's.
    private func update() async throws {
        for name in ["one", "two", "three"] { try world.write("\(name)/file", "\(name), version 2") }
        try await world.publish()
    }

    private func upload(
        _ site: String? = nil, to destination: String, through wrapper: [String] = [],
        dyingAt step: String? = nil
    ) async throws -> CommandResult {
        try await world.run(
            "upload \(site ?? world.site) \(destination)",
            environment: ["RCLONE_CONFIG": world["rclone.conf"]], through: wrapper, dyingAt: step)
    }

    /// What a client of the host gets: the old state or the new one, whole.
    private func version() async throws -> Int64? {
        try await world.run("audit $WORK/host $TRUST").succeeded()
        return try world.json("host/metadata/timestamp.json")["signed", "version"]?.number
    }

    /// Makes the host as it was before the update.
    private func reset() async throws {
        try world.remove("host")
        try await world.copy("before", to: "host")
    }

    /// Killed before each of its system calls that give a file its name: the host has the old state or the new one, and the next
    /// upload completes it.
    @Test func killedInAFolder() async throws {
        try await upload(to: host).succeeded()
        try await update()
        try await world.copy("host", to: "before")
        var seen: Set<Int64> = []
        for call in ["renameat2", "fsync"] {
            try await Killing.atEach(call, 1...40, isAlwaysCalled: false) { _, wrapper in
                try await reset()
                let killed = try await upload(to: host, through: wrapper)
                guard killed.exitCode != 0 else { return killed }
                seen.insert(try #require(try await version()))
                try await upload(to: host).succeeded()
                #expect(try await version() == 2)
                #expect(try Tree(host) == Tree(world.site))
                return killed
            }
        }
        #expect(seen.contains(1))
    }

    /// Killed after each part that a tool has written.
    @Test(arguments: ["rclone", "rsync"]) func killedBetweenTwoParts(tool: String) async throws {
        let destination = (tool == "rclone" ? ":local:" : "rsync:") + host
        try await upload(to: destination).succeeded()
        try await update()
        try await world.copy("host", to: "before")
        var versions: [Int64] = []
        for part in 1...20 {
            try await reset()
            let killed = try await upload(to: destination, dyingAt: "upload:\(part)")
            guard killed.exitCode != 0 else { break }
            #expect(killed.exitCode == 137, "\(killed.errorText)")
            versions.append(try #require(try await version()))
            try await upload(to: destination).succeeded()
            #expect(try Tree(host) == Tree(world.site))
        }
        // Packs, targets, snapshot; the timestamp is the last one.
        #expect(versions == [1, 1, 1, 2])
    }

    @Test func toAWebDAVServer() async throws {
        try world.makeFolder("host")
        let serve = Command.shell(
            "export RCLONE_CONFIG='\(world["rclone.conf"])'; exec rclone serve webdav --addr 127.0.0.1:0 '\(host)' 2>&1"
        )
        try await world.whileRunning("", through: serve) { server in
            let line = try await server.firstLine()
            let url = try #require(line.split(separator: " ").first { $0.hasPrefix("http") }, "\(line)")
            try await expectUploads(to: ":webdav,url='\(url)':game/site", in: "host/game/site")
        }
    }

    @Test func toARsyncDaemon() async throws {
        try world.makeFolder("host")
        let port = try ListeningSocket().port
        try world.write(
            "rsyncd.conf",
            "use chroot = no\nuid = \(getuid())\ngid = \(getgid())\n[game]\npath = \(host)\nread only = no\n")
        let serve = Command.shell(
            "rsync --daemon --no-detach --address=127.0.0.1 --port=\(port) --config='\(world["rsyncd.conf"])' & "
                + "pid=$!; trap 'kill $pid' TERM; echo started; wait $pid")
        try await world.whileRunning("", through: serve) { server in
            #expect(try await server.firstLine() == "started")
            let address = "rsync://127.0.0.1:\(port)/game"
            try await wait(for: "the daemon") {
                try await Tool.run(["rsync", "\(address)/"]).exitCode == 0
            }
            try await expectUploads(to: "\(address)/site", in: "host/site")
        }
    }

    private func expectUploads(to destination: String, in served: String) async throws {
        try await world.copy("vault", to: "stale")
        try await upload(to: destination).succeeded()
        try await update()
        try await upload(to: destination).succeeded()
        #expect(try Tree(world[served]) == Tree(world.site))
        let before = try Tree(host)
        try await upload(world["stale/site"], to: destination).failed(76, naming: "version 1", "version 2")
        #expect(try await upload(to: destination).succeeded().text.hasPrefix("nothing to send"))
        #expect(try Tree(host) == before)
    }
}
