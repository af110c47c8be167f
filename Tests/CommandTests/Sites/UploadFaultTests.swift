import Foundation
import Testing

/// Uploads that are killed, and uploads over the network. `Scripts/Sites/upload-fault.txt` has tools that fail.
struct UploadFaultTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for name in ["one", "two", "three"] { try folder.write("\(name)/file", "\(name), version 1") }
        let packs = ["one", "two", "three"].flatMap { ["--pack", "\($0)=\(folder[$0])"] }
        try await Command.run(["publish", testSite.vault] + packs).succeeded()
    }

    /// A newer site than the host's.
    private func update() async throws {
        for name in ["one", "two", "three"] { try folder.write("\(name)/file", "\(name), version 2") }
        try await testSite.publish()
    }

    /// What a client of the host gets: the old state or the new one, whole.
    private func version(_ host: UploadHost) async throws -> Int64? {
        try await Command.run("audit", host.folder, "--trust", testSite.root).succeeded()
        return try folder.json("host/metadata/timestamp.json")["signed", "version"]?.number
    }

    /// Killed before each of its system calls that give a file its name: the host has the old state or the new one, and the next
    /// upload completes it.
    @Test func killedInAFolder() async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        try await host.upload().succeeded()
        try await update()
        try await Tool.run("cp", "-a", host.folder, folder["before"])
        var seen: Set<Int64> = []
        for call in ["renameat2", "fsync"] {
            for number in 1...40 {
                try await Tool.run("rm", "-rf", host.folder)
                try await Tool.run("cp", "-a", folder["before"], host.folder)
                let killed = try await host.upload(through: Killing.at(call, number: number))
                guard killed.exitCode != 0 else { break }
                #expect(killed.exitCode == 137, "\(killed.errorText)")
                seen.insert(try #require(try await version(host)))
                try await host.upload().succeeded()
                #expect(try await version(host) == 2)
                #expect(try host.content() == Tree(testSite.site))
            }
        }
        #expect(seen.contains(1))
    }

    /// Killed after each part that a tool has written.
    @Test(arguments: UploadHost.Way.tools) func killedBetweenTwoParts(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        try await host.upload().succeeded()
        try await update()
        try await Tool.run("cp", "-a", host.folder, folder["before"])
        var versions: [Int64] = []
        for part in 1...20 {
            try await Tool.run("rm", "-rf", host.folder)
            try await Tool.run("cp", "-a", folder["before"], host.folder)
            let arguments = ["upload", testSite.site, host.destination]
            let killed = try await Command.run(arguments, dyingAt: "upload:\(part)")
            guard killed.exitCode != 0 else { break }
            #expect(killed.exitCode == 137, "\(killed.errorText)")
            versions.append(try #require(try await version(host)))
            try await host.upload().succeeded()
            #expect(try host.content() == Tree(testSite.site))
        }
        // Packs, targets, snapshot; the timestamp is the last one.
        #expect(versions == [1, 1, 1, 2])
    }

    /// Over the network: a WebDAV server, and a daemon of rsync.
    @Test(arguments: UploadHost.Way.tools) func overTheNetwork(way: UploadHost.Way) async throws {
        try folder.makeFolder("host")
        try await Tool.run("cp", "-a", testSite.vault, folder["stale"])
        let served = folder["host"]
        if way == .rclone {
            let serve = Command.shell("exec rclone serve webdav --addr 127.0.0.1:0 '\(served)' 2>&1")
            try folder.write("rclone.conf", "")
            try await Command.whileRunning(
                [], environment: ["RCLONE_CONFIG": folder["rclone.conf"]], through: serve
            ) { server in
                let line = try await server.firstLine()
                let url = try #require(line.split(separator: " ").first { $0.hasPrefix("http") }, "\(line)")
                try await expectUploads(by: way, to: ":webdav,url='\(url)':game/site", in: "host/game/site")
            }
        } else {
            let port = try ListeningSocket().port
            try folder.write(
                "rsyncd.conf",
                "use chroot = no\nuid = \(getuid())\ngid = \(getgid())\n[game]\npath = \(served)\nread only = no\n"
            )
            let serve = Command.shell(
                "rsync --daemon --no-detach --address=127.0.0.1 --port=\(port) --config='\(folder["rsyncd.conf"])' & "
                    + "pid=$!; trap 'kill $pid' TERM; echo started; wait $pid")
            try await Command.whileRunning([], through: serve) { server in
                #expect(try await server.firstLine() == "started")
                let address = "rsync://127.0.0.1:\(port)/game"
                for _ in 0..<100 where try await Tool.run(["rsync", "\(address)/"]).exitCode != 0 {
                    try await Task.sleep(for: .milliseconds(50))
                }
                try await expectUploads(by: way, to: "\(address)/site", in: "host/site")
            }
        }
    }

    private func expectUploads(by way: UploadHost.Way, to destination: String, in served: String) async throws
    {
        let host = try UploadHost(of: testSite, by: way, destination: destination)
        try await host.upload().succeeded()
        try await update()
        try await host.upload().succeeded()
        #expect(try Tree(folder[served]) == Tree(testSite.site))
        try await host.isUnchanged {
            try await host.upload(folder["stale/site"]).failed(76, naming: "version 1", "version 2")
            #expect(try await host.upload().succeeded().text.hasPrefix("nothing to send"))
        }
    }
}
