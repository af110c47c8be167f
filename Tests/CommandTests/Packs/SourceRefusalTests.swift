import SystemPackage
import Testing

/// Sources with special files or non-portable names.
struct SourceRefusalTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    /// Runs a script in the source, then expects it to be refused, naming the entry.
    private func refuses(
        _ script: String, naming entry: String, through wrapper: [String] = [],
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        try await Tool.run(["/bin/sh", "-ec", script], workingDirectory: FilePath(samplePack.level))
            .succeeded(
                at: location)
        try await samplePack.unchanged {
            try await Command.run(
                ["seal", samplePack.level, "-o", samplePack.pack] + samplePack.keys, through: wrapper
            )
            .failed(65, naming: entry, at: location)
        }
    }

    @Test func aLinkToAFile() async throws {
        try await refuses("ln -s start.json maps/link", naming: "maps/link")
    }
    @Test func aLinkToAFolder() async throws { try await refuses("ln -s maps link", naming: "link") }
    @Test func aLinkOutside() async throws { try await refuses("ln -s /etc/passwd maps/x", naming: "maps/x") }
    @Test func aDanglingLink() async throws { try await refuses("ln -s nowhere empty/x", naming: "empty/x") }
    @Test func aPipe() async throws { try await refuses("mkfifo maps/pipe", naming: "maps/pipe") }

    @Test func aSocket() async throws {
        let script = #"python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("plug")'"#
        try await refuses(script, naming: "plug")
    }

    @Test func aDevice() async throws {
        let mount = "mount --bind /dev/null '\(samplePack.level)/maps/device'"
        try await refuses(": > maps/device", naming: "maps/device", through: Sandbox.mounting(mount))
        try await refuses("rm maps/device; ln -s /dev/null maps/device", naming: "maps/device")
        try await samplePack.unchanged {
            try await Command.run(
                ["seal", samplePack.level, "-o", samplePack.pack, "--follow-links"] + samplePack.keys
            )
            .failed(65, naming: "maps/device")
        }
    }

    @Test(arguments: [
        (#"bad\377"#, #"bad"#), (#"\300\257"#, "UTF-8"), (#"\355\240\200"#, "UTF-8"),
        (#"line\nbreak"#, #"line\nbreak"#),
        (#"esc\033[31m"#, #"esc\u{1B}[31m"#), (#"del\177"#, #"del\u{7F}"#), (#"c1\302\205"#, #"c1\u{0085}"#),
        (#"back\\slash"#, "back"),
    ])
    func aNonPortableName(name: String, shown: String) async throws {
        try await refuses(#": > "maps/$(printf '\#(name)')""#, naming: shown)
        try await refuses(#"rm maps/*; mkdir "$(printf '\#(name)')""#, naming: shown)
    }

    @Test func namesThatDifferOnlyInCase() async throws {
        try await refuses(": > Maps", naming: "Maps")
        try await refuses("rm Maps; : > run.SH", naming: "run.SH")
    }

    @Test func namesThatDifferOnlyInNormalization() async throws {
        try await refuses(
            #": > "$(printf '\303\251')"; : > "$(printf 'e\314\201')""#, naming: "normalisation")
    }

    @Test func aPathThatIsTooDeep() async throws {
        let deep = Array(repeating: "d", count: 64).joined(separator: "/")
        try await refuses("mkdir -p '\(deep)'; : > '\(deep)/file'", naming: "64")
    }

    @Test func aMissingOrSpecialSource() async throws {
        try await samplePack.unchanged {
            try await Command.run(
                ["seal", samplePack.folder["absent"], "-o", samplePack.pack] + samplePack.keys
            )
            .failed(66, naming: samplePack.folder["absent"])
            try await Command.run(
                ["seal", "/dev/null", "-o", samplePack.pack, "--id", "x"] + samplePack.keys
            )
            .failed(65, naming: "/dev/null")
            try await Command.run(
                ["seal", samplePack.keyFile, "-o", samplePack.pack, "--id", "x"] + samplePack.keys
            )
            .failed(65, naming: samplePack.keyFile)
        }
    }

    /// 10 KiB that unpack to 40 GiB, which would be sealed to the last zero.
    @Test func decompressionBombsAreRefused() async throws {
        let script = "truncate -s 40G hole && tar cSf hole.tar hole && rm hole"
        try await Tool.run(["/bin/sh", "-ec", script], workingDirectory: samplePack.folder.path).succeeded()
        try await samplePack.unchanged {
            try await Command.run(
                ["seal", samplePack.folder["hole.tar"], "-o", samplePack.pack] + samplePack.keys
            )
            .failed(78, naming: "hole.tar", "times its own length", "--max-unpacked")
        }
    }

    @Test func theUnpackedSizeLimitIsAnOption() async throws {
        try await Tool.run("tar", "cf", samplePack.folder["level.tar"], "-C", samplePack.level, ".")
        let seal = ["seal", samplePack.folder["level.tar"], "-o", samplePack.pack] + samplePack.keys
        try await samplePack.unchanged {
            try await Command.run(seal + ["--max-unpacked", "200000"])
                .failed(78, naming: "more than 200000 bytes", "--max-unpacked")
        }
        try await samplePack.unchanged {
            for text in ["200KB", "0.19MiB", "0.0002GB"] {
                try await Command.run(seal + ["--max-unpacked", text]).failed(78, naming: "--max-unpacked")
            }
            for text in ["KB", "1XB", "-1", "1.KB", "99999999999GB"] {
                try await Command.run(seal + ["--max-unpacked=\(text)"]).failed(64, naming: "max-unpacked")
            }
        }
        try await Command.run(seal + ["--max-unpacked", "200.1kB"]).succeeded()
        try await Command.run("init", samplePack.folder["vault"]).succeeded()
        let publish = [
            "publish", samplePack.folder["vault"], "--pack", "one=\(samplePack.folder["level.tar"])",
        ]
        try await Command.run(publish + ["--max-unpacked", "200000"]).failed(78, naming: "--max-unpacked")
        try await Command.run(publish + ["--max-unpacked", "200100"]).succeeded()
    }

    @Test func linksAreFollowedWhenAsked() async throws {
        let plain = samplePack.folder["plain"]
        try await Tool.run("cp", "-r", samplePack.level, plain)
        try samplePack.folder.write("outside/file", "from outside")
        try await Tool.run("cp", "-r", samplePack.folder["outside"], plain + "/outside")
        try await Tool.run("cp", plain + "/run.sh", plain + "/maps/alias")
        try await Tool.run("ln", "-s", "../run.sh", samplePack.level + "/maps/alias")
        try await Tool.run("ln", "-s", samplePack.folder["outside"], samplePack.level + "/outside")
        try await samplePack.seal(nil, as: nil, "--follow-links")
        try await samplePack.open(into: samplePack.folder["opened"]).succeeded()
        try await expectSameTree(plain, samplePack.folder["opened"])
    }

    @Test(arguments: [
        "ln -s . maps/circle", "ln -s ../maps maps/circle", "ln -s circle maps/circle",
        "ln -s nowhere maps/circle",
    ])
    func unresolvableLinksAreRefused(script: String) async throws {
        try await Tool.run(["/bin/sh", "-ec", script], workingDirectory: FilePath(samplePack.level))
            .succeeded()
        try await samplePack.unchanged {
            try await Command.run(
                ["seal", samplePack.level, "-o", samplePack.pack, "--follow-links"] + samplePack.keys
            )
            .failed(65, naming: "maps/circle")
        }
    }
}
