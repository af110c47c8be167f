import Foundation
import Sampling
import SystemPackage
import Testing

/// Real assets: published, hosted by nginx, fetched without and with the key, and compared.
struct EndToEndTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
    }

    /// The peak of a command's memory, in KiB.
    private func memory(of arguments: [String]) async throws -> Int {
        let time = ["/usr/bin/time", "-f", "%M", "-o", folder["memory"]]
        try await Command.run(arguments, through: time).succeeded()
        let text = String(decoding: try folder.bytes("memory"), as: UTF8.self)
        return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test func extremeTuxRacer() async throws {
        try await Tool.run("dpkg-deb", "--extract", try await Self.debianPackage(), folder["game"])
        #expect(try Tree(folder["game"]).files.count > 100)
        try await testSite.publish("--pack", "tuxracer=\(folder["game"])")
        try await Nginx.run(over: testSite.site, in: folder) { nginx in
            try await testSite.fetch(nginx.url, withKeys: false).succeeded()
            #expect(try await testSite.status()["tuxracer"]?.state == "toBeTransferred")
            try await testSite.fetch(nginx.url).succeeded()
            let site = try folder.bytes("vault/site/\(testSite.publishedPack("tuxracer"))").count
            // Header and footer are known from the metadata.
            #expect(try nginx.packBytes() == site - 64 - 128)
        }
        try await Tool.run("diff", "-r", folder["game"], "\(testSite.store)/permanent/tuxracer/current/")
    }

    /// The Debian package, kept in `ASSETVAULT_CORPORA` or among the temporary files for the next time.
    private static func debianPackage() async throws -> String {
        let name = "extremetuxracer-data"
        let corpora =
            ProcessInfo.processInfo.environment["ASSETVAULT_CORPORA"].map { URL(filePath: $0) }
            ?? FileManager.default.temporaryDirectory.appending(path: "assetvault-corpora")
        try FileManager.default.createDirectory(at: corpora, withIntermediateDirectories: true)
        func found() throws -> String? {
            try FileManager.default.contentsOfDirectory(at: corpora, includingPropertiesForKeys: nil)
                .first { $0.lastPathComponent.hasPrefix("\(name)_") && $0.pathExtension == "deb" }?
                .path(percentEncoded: false)
        }
        if let package = try found() { return package }
        // Downloaded aside, so that nobody takes half of it for the whole.
        let aside = try TemporaryFolder(in: corpora.path(percentEncoded: false))
        try await Tool.run("apt-get", "download", name, workingDirectory: aside.path)
        let package = try #require(try aside.names().first)
        try await Tool.run("mv", aside[package], corpora.path(percentEncoded: false))
        return try #require(try found())
    }

    /// A source of unusual names and sizes, as a folder and as archives made by other programs.
    @Test func unusualNamesAndSizes() async throws {
        for name in [
            "a space", " leading and trailing ", "größe/Übung", "ノイズ/音.ogg", "emoji 🎮", "quote's \"double\"",
            "$HOME", "-rf",
            "*", "semi;colon", "percent%41", "tilde~", ".hidden", "deep/er/and/deep/er", "UPPER", "100%",
            "#hash?query",
        ] {
            try folder.write("odd/\(name)", "this is \(name)")
        }
        try folder.write("odd/run me", "#!/bin/sh\n", permissions: 0o755)
        try folder.write("odd/nothing", [])
        for name in ["empty", "empty too/inner", "ünïcode empty"] { try folder.makeFolder("odd/\(name)") }
        try folder.write("odd/large.bin", Bytes.random(1 << 20, seed: 1))
        try await Tool.run("truncate", "--size", Sampling.isWhole ? "300M" : "30M", folder["odd/large.bin"])

        let script = """
            tar --zstd -cf ../odd.tar.zst .
            zip -q -r ../odd.zip .
            7z a -bd -mx=1 ../odd.7z . > /dev/null
            """
        try folder.write("pack.sh", script)
        try await Tool.run("sh", "-e", folder["pack.sh"], workingDirectory: folder.path.appending("odd"))
        try await testSite.publish(
            "--pack", "odd=\(folder["odd"])", "--pack", "tar=\(folder["odd.tar.zst"])",
            "--pack", "zip=\(folder["odd.zip"])", "--pack", "seven=\(folder["odd.7z"])",
            // Nearly all of it is zeros.
            "--max-unpacked", "1GB")
        try await Nginx.run(over: testSite.site, in: folder) { nginx in
            try await testSite.fetch(nginx.url).succeeded()
        }
        let source = try Tree(folder["odd"])
        for id in ["odd", "tar", "zip", "seven"] {
            #expect(try await testSite.tree(of: id) == source, "\(id)")
        }
    }

    @Test func memoryIsBounded() async throws {
        let script = """
            mkdir many
            head -c \(Sampling.isWhole ? 300 : 150)M /dev/urandom > random
            head -c \(Sampling.isWhole ? 50 : 10)M /dev/urandom > part
            for copy in 1 2 3 4 5 6 7 8; do cat part; done > repeated
            head -c \(Sampling.isWhole ? 8 : 2)M part | split -a 4 -b 4k - many/
            rm part
            """
        try folder.write("make.sh", script)
        try folder.makeFolder("large")
        try await Tool.run("sh", "-e", folder["make.sh"], workingDirectory: folder.path.appending("large"))
        let limit = 128 << 10
        let publishing = try await memory(
            of: ["publish", testSite.vault, "--pack", "large=\(folder["large"])"])
        #expect(publishing < limit, "\(publishing) KiB")
        try await Nginx.run(over: testSite.site, in: folder) { nginx in
            let fetch = ["fetch", nginx.url, "--store", testSite.store, "--trust", testSite.root]
            let downloading = try await memory(of: fetch)
            #expect(downloading < limit, "\(downloading) KiB")
            let opening = try await memory(of: fetch + testSite.keys)
            #expect(opening < limit, "\(opening) KiB")
        }
        try await Tool.run("diff", "-r", folder["large"], "\(testSite.store)/permanent/large/current/")
        let auditing = try await memory(
            of: ["audit", testSite.site, "--trust", testSite.root] + testSite.keys + ["--json"])
        #expect(auditing < limit, "\(auditing) KiB")
        let again = try await memory(of: ["publish", testSite.vault])
        #expect(again < limit, "\(again) KiB")
    }
}
