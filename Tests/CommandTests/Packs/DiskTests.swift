import Testing

/// Full, failing and read-only disks.
struct DiskTests {
    let samplePack: SamplePack
    let disk: String
    init() throws {
        samplePack = try SamplePack()
        disk = try samplePack.folder.makeFolder("disk")
    }

    /// Files on the small disk after the command, by kind and path.
    private func left() throws -> [String] {
        String(decoding: try samplePack.folder.bytes("left"), as: UTF8.self).split(separator: "\n").map(
            String.init
        ).sorted()
    }

    private func onSmallDisk(
        _ size: String, _ arguments: [String], setup: String = ":"
    ) async throws -> CommandResult {
        let wrapper = Sandbox.smallDisk(size, at: disk, listing: samplePack.folder["left"], setup: setup)
        return try await Command.run(arguments + samplePack.keys, through: wrapper)
    }

    private var commands: [[String]] {
        [
            ["seal", samplePack.level, "-o", "\(disk)/out"], ["open", samplePack.pack, "-o", "\(disk)/out"],
            ["open", samplePack.pack, "--tar", "\(disk)/out"],
        ]
    }

    @Test func aFullDiskLeavesNothing() async throws {
        try await samplePack.seal()
        for command in commands {
            try await onSmallDisk("100k", command).failed(71, naming: disk, "full")
            #expect(try left() == [], "\(command)")
            try await onSmallDisk("8m", command).succeeded()
            #expect(try left().contains { $0.hasSuffix(" out") })
        }
    }

    @Test func aFullDiskLeavesWhatWasThere() async throws {
        try await samplePack.seal()
        let setup =
            "cp '\(samplePack.pack)' out && cp '\(samplePack.pack).json' out.json && cp '\(samplePack.keyFile)' key"
        for command in commands where !command.contains("-o") || command[0] == "seal" {
            // 200 KB are there already; there is no room for as many again.
            let check = "\(setup) && sha256sum out out.json key > '\(samplePack.folder["sums"])'"
            let wrapper = Sandbox.smallDisk(
                "300k", at: disk, listing: samplePack.folder["left"], setup: check)
            let verify = Command.shell(
                "\"$@\"; code=$?; sha256sum --quiet -c '\(samplePack.folder["sums"])' && exit $code")
            try await Command.run(command + ["--force"] + samplePack.keys, through: wrapper + verify)
                .failed(71, naming: "\(disk)/out", "full")
            #expect(try left() == ["f key", "f out", "f out.json"])
        }
    }

    @Test func anEmptyFolderStaysWhenTheDiskIsFull() async throws {
        try await samplePack.seal()
        try await onSmallDisk("100k", ["open", samplePack.pack, "-o", "\(disk)/out"], setup: "mkdir out")
            .failed(71)
        #expect(try left() == ["d out"])
    }

    @Test func keygenOnAFullDiskLeavesNothing() async throws {
        let wrapper = Sandbox.smallDisk(
            "4k", at: disk, listing: samplePack.folder["left"],
            setup: "{ head -c 5000 /dev/zero > fill 2> /dev/null || :; }")
        try await Command.run("keygen", "-o", "\(disk)/key", through: wrapper).failed(
            71, naming: "\(disk)/key", "full")
        #expect(try left() == ["f fill"])
    }

    /// There is room for the pack, but not for the unpacked archive beside it.
    @Test func anArchiveThatIsTooLargeUnpacked() async throws {
        try await Tool.run("/bin/sh", "-c", "head -c 20000000 /dev/zero > '\(samplePack.level)/zeros'")
        let archive = samplePack.folder["level.tar.zst"]
        try await Tool.run("tar", "--zstd", "-cf", archive, "-C", samplePack.level, ".")
        try await onSmallDisk("4m", ["seal", archive, "-o", "\(disk)/out"]).failed(71, naming: "full")
        #expect(try left() == [])
    }

    @Test func aReadOnlyFolderStaysAsItIs() async throws {
        try await samplePack.seal()
        try samplePack.folder.write("disk/level.avpack", "precious")
        try samplePack.folder.makeFolder("disk/empty")
        try await samplePack.unchanged {
            for command in commands + [["open", samplePack.pack, "-o", "\(disk)/empty"]] {
                try await Command.run(command + samplePack.keys, through: Sandbox.readOnly(disk)).failed(
                    73, naming: disk)
            }
            let forced =
                ["seal", samplePack.level, "-o", "\(disk)/level.avpack", "--force"] + samplePack.keys
            try await Command.run(forced, through: Sandbox.readOnly(disk)).failed(73, naming: disk)
            try await Command.run("keygen", "-o", "\(disk)/key", through: Sandbox.readOnly(disk))
                .failed(73, naming: disk)
        }
    }

    /// Packs on a read-only disk are readable.
    @Test func aReadOnlyFolderCanBeRead() async throws {
        try samplePack.folder.write("disk/level.avpack", try await packBytes())
        try samplePack.folder.write(
            "disk/level.avpack.json", try samplePack.folder.bytes("level.avpack.json"))
        let wrapper = Sandbox.readOnly(disk)
        let pack = "\(disk)/level.avpack"
        try await Command.run(
            ["open", pack, "-o", samplePack.folder["opened"]] + samplePack.keys, through: wrapper
        )
        .succeeded()
        let answer = try await Command.run(["cat", pack, "run.sh"] + samplePack.keys, through: wrapper)
            .succeeded()
        #expect(answer.text == "#!/bin/sh\n")
        try await Command.run(["inspect", pack], through: wrapper).succeeded()
    }

    private func packBytes() async throws -> [UInt8] {
        try await samplePack.seal()
        return try samplePack.folder.bytes("level.avpack")
    }

    /// One failing call at a time, each of which ends the work without a trace. Calls are counted in each thread, and threads
    /// share the work.
    @Test(arguments: [
        ("seal", "write", 2), ("seal", "pwrite64", 1), ("seal", "fsync", 1), ("seal", "fsync", 2),
        ("seal", "renameat", 1), ("seal", "renameat2", 1),
        ("open", "pwrite64", 1), ("open", "pwrite64", 2), ("open", "mkdirat", 1), ("open", "mkdirat", 2),
        ("open", "syncfs", 1), ("open", "renameat", 1),
        ("tar", "fsync", 1), ("tar", "renameat2", 1),
    ]) func aFailingDiskLeavesNothing(work: String, call: String, number: Int) async throws {
        try await samplePack.seal()
        let command =
            switch work {
            case "seal": commands[0]
            case "open": commands[1]
            default: commands[2]
            }
        try await samplePack.unchanged {
            try await Command.run(
                command + samplePack.keys, through: Sandbox.injecting("error=EIO", into: call, number: number)
            ).failed(74, naming: disk)
        }
    }
}
