import Foundation
import Sampling
import SystemPackage
import TestFiles
import Testing

/// Real assets: published, hosted by nginx, fetched without and with the key, and compared.
struct EndToEndTests {
    let world: World

    init() async throws { world = try await World() }

    @Test func extremeTuxRacer() async throws {
        try await Tool.run("dpkg-deb", "--extract", try await Self.debianPackage(), world["game"])
        #expect(try Tree(world["game"]).files.count > 100)
        try await world.publish("--pack tuxracer=$WORK/game")
        try await Nginx.run(over: world.site) { nginx in
            try await world.fetch(from: nginx.url, withKeys: false).succeeded()
            #expect(try await world.status()["tuxracer"]?.state == "toBeTransferred")
            try await world.fetch(from: nginx.url).succeeded()
            let site = try world.publishedBytes(of: "tuxracer").count
            // Header and footer are known from the metadata.
            #expect(try nginx.packBytes() == site - 64 - 128)
        }
        try await Tool.run("diff", "-r", world["game"], "\(world.store)/permanent/tuxracer/current/")
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
            try world.write("odd/\(name)", "this is \(name)")
        }
        try world.write("odd/run me", "#!/bin/sh\n", permissions: 0o755)
        try world.write("odd/nothing", [])
        for name in ["empty", "empty too/inner", "ünïcode empty"] { try world.makeFolder("odd/\(name)") }
        try world.write("odd/large.bin", Bytes.random(1 << 20, seed: 1))
        try await Tool.run("truncate", "--size", Sampling.isWhole ? "300M" : "30M", world["odd/large.bin"])

        let script = """
            tar --zstd -cf ../odd.tar.zst .
            zip -q -r ../odd.zip .
            7z a -bd -mx=1 ../odd.7z . > /dev/null
            """
        try world.write("pack.sh", script)
        try await Tool.run("sh", "-e", world["pack.sh"], workingDirectory: world.path.appending("odd"))
        // Nearly all of it is zeros.
        try await world.publish(
            """
            --pack odd=$WORK/odd --pack tar=$WORK/odd.tar.zst --pack zip=$WORK/odd.zip \
            --pack seven=$WORK/odd.7z --max-unpacked 1GB
            """)
        try await Nginx.run(over: world.site) { nginx in
            try await world.fetch(from: nginx.url).succeeded()
        }
        let source = try Tree(world["odd"])
        for id in ["odd", "tar", "zip", "seven"] {
            #expect(try await world.tree(of: id) == source, "\(id)")
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
        try world.write("make.sh", script)
        try world.makeFolder("large")
        try await Tool.run("sh", "-e", world["make.sh"], workingDirectory: world.path.appending("large"))
        let limit = 128 << 10
        let publishing = try await world.memory(of: "publish $VAULT --pack large=$WORK/large")
        #expect(publishing < limit, "\(publishing) KiB")
        try await Nginx.run(over: world.site) { nginx in
            let fetch: Words = "fetch \(nginx.url) $STORE $TRUST"
            let downloading = try await world.memory(of: fetch)
            #expect(downloading < limit, "\(downloading) KiB")
            let opening = try await world.memory(of: "\(fetch) $KEYS")
            #expect(opening < limit, "\(opening) KiB")
        }
        try await Tool.run("diff", "-r", world["large"], "\(world.store)/permanent/large/current/")
        let auditing = try await world.memory(of: "audit $SITE $TRUST $KEYS --json")
        #expect(auditing < limit, "\(auditing) KiB")
        let again = try await world.memory(of: "publish $VAULT")
        #expect(again < limit, "\(again) KiB")
    }
}
