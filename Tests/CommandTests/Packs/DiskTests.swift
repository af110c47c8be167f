import Testing

/// Full, failing and read-only disks.
struct DiskTests {
    let bench: Bench
    let disk: String
    init() throws {
        bench = try Bench()
        disk = try bench.folder.makeFolder("disk")
    }

    /// Files on the small disk after the command, by kind and path.
    private func left() throws -> [String] {
        String(decoding: try bench.folder.bytes("left"), as: UTF8.self).split(separator: "\n").map(
            String.init
        ).sorted()
    }

    private func onSmallDisk(
        _ size: String, _ arguments: [String], setup: String = ":"
    ) async throws -> CommandResult {
        let wrapper = Sandbox.smallDisk(size, at: disk, listing: bench.folder["left"], setup: setup)
        return try await Command.run(arguments + bench.keys, through: wrapper)
    }

    private var commands: [[String]] {
        [
            ["seal", bench.level, "-o", "\(disk)/out"], ["open", bench.pack, "-o", "\(disk)/out"],
            ["open", bench.pack, "--tar", "\(disk)/out"],
        ]
    }

    @Test func aFullDiskLeavesNothing() async throws {
        try await bench.seal()
        for command in commands {
            try await onSmallDisk("100k", command).failed(74, naming: disk, "full")
            #expect(try left() == [], "\(command)")
            try await onSmallDisk("8m", command).succeeded()
            #expect(try left().contains { $0.hasSuffix(" out") })
        }
    }

    @Test func aFullDiskLeavesWhatWasThere() async throws {
        try await bench.seal()
        let setup = "cp '\(bench.pack)' out && cp '\(bench.pack).json' out.json && cp '\(bench.keyFile)' key"
        for command in commands where !command.contains("-o") || command[0] == "seal" {
            // 200 KB are there already; there is no room for as many again.
            let check = "\(setup) && sha256sum out out.json key > '\(bench.folder["sums"])'"
            let wrapper = Sandbox.smallDisk("300k", at: disk, listing: bench.folder["left"], setup: check)
            let verify = Command.shell(
                "\"$@\"; code=$?; sha256sum --quiet -c '\(bench.folder["sums"])' && exit $code")
            try await Command.run(command + ["--force"] + bench.keys, through: wrapper + verify)
                .failed(74, naming: "\(disk)/out", "full")
            #expect(try left() == ["f key", "f out", "f out.json"])
        }
    }

    @Test func anEmptyFolderStaysWhenTheDiskIsFull() async throws {
        try await bench.seal()
        try await onSmallDisk("100k", ["open", bench.pack, "-o", "\(disk)/out"], setup: "mkdir out").failed(
            74)
        #expect(try left() == ["d out"])
    }

    @Test func keygenOnAFullDiskLeavesNothing() async throws {
        let wrapper = Sandbox.smallDisk(
            "4k", at: disk, listing: bench.folder["left"],
            setup: "{ head -c 5000 /dev/zero > fill 2> /dev/null || :; }")
        try await Command.run("keygen", "-o", "\(disk)/key", through: wrapper).failed(
            74, naming: "\(disk)/key", "full")
        #expect(try left() == ["f fill"])
    }

    /// There is room for the pack, but not for the unpacked archive beside it.
    @Test func anArchiveThatIsTooLargeUnpacked() async throws {
        try await Tool.run("/bin/sh", "-c", "head -c 20000000 /dev/zero > '\(bench.level)/zeros'")
        let archive = bench.folder["level.tar.zst"]
        try await Tool.run("tar", "--zstd", "-cf", archive, "-C", bench.level, ".")
        try await onSmallDisk("4m", ["seal", archive, "-o", "\(disk)/out"]).failed(74, naming: "full")
        #expect(try left() == [])
    }

    @Test func aReadOnlyFolderStaysAsItIs() async throws {
        try await bench.seal()
        try bench.folder.write("disk/level.avpack", "precious")
        try bench.folder.makeFolder("disk/empty")
        try await bench.unchanged {
            for command in commands + [["open", bench.pack, "-o", "\(disk)/empty"]] {
                try await Command.run(command + bench.keys, through: Sandbox.readOnly(disk)).failed(
                    73, naming: disk)
            }
            let forced = ["seal", bench.level, "-o", "\(disk)/level.avpack", "--force"] + bench.keys
            try await Command.run(forced, through: Sandbox.readOnly(disk)).failed(73, naming: disk)
            try await Command.run("keygen", "-o", "\(disk)/key", through: Sandbox.readOnly(disk))
                .failed(73, naming: disk)
        }
    }

    /// Packs on a read-only disk are readable.
    @Test func aReadOnlyFolderCanBeRead() async throws {
        try bench.folder.write("disk/level.avpack", try await packBytes())
        try bench.folder.write("disk/level.avpack.json", try bench.folder.bytes("level.avpack.json"))
        let wrapper = Sandbox.readOnly(disk)
        let pack = "\(disk)/level.avpack"
        try await Command.run(["open", pack, "-o", bench.folder["opened"]] + bench.keys, through: wrapper)
            .succeeded()
        let answer = try await Command.run(["cat", pack, "run.sh"] + bench.keys, through: wrapper).succeeded()
        #expect(answer.text == "#!/bin/sh\n")
        try await Command.run(["inspect", pack], through: wrapper).succeeded()
    }

    private func packBytes() async throws -> [UInt8] {
        try await bench.seal()
        return try bench.folder.bytes("level.avpack")
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
        try await bench.seal()
        let command =
            switch work {
            case "seal": commands[0]
            case "open": commands[1]
            default: commands[2]
            }
        try await bench.unchanged {
            try await Command.run(
                command + bench.keys, through: Sandbox.injecting("error=EIO", into: call, number: number)
            ).failed(74, naming: disk)
        }
    }
}
