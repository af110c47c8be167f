import Testing

/// Full, failing and read-only disks.
struct DiskTests {
    let sample: SamplePack
    let disk: String
    init() throws {
        sample = try SamplePack()
        disk = try sample.makeFolder("disk")
    }

    /// Files on the small disk after the command, by kind and path.
    private func left() throws -> [String] {
        try sample.lines("left").sorted()
    }

    private func onSmallDisk(
        _ size: String, _ words: Words, setup: String = ":"
    ) async throws -> CommandResult {
        let wrapper = Sandbox.smallDisk(size, at: disk, listing: sample["left"], setup: setup)
        return try await sample.run("\(words) $KEYS", through: wrapper)
    }

    private var seal: Words { "seal $LEVEL -o \(disk)/out" }
    private var open: Words { "open $PACK -o \(disk)/out" }
    private var openAsTar: Words { "open $PACK --tar \(disk)/out" }
    private var commands: [Words] { [seal, open, openAsTar] }

    @Test func aFullDiskLeavesNothing() async throws {
        try await sample.seal()
        for command in commands {
            try await onSmallDisk("100k", command).failed(71, naming: disk, "full")
            #expect(try left() == [], "\(command.list())")
            try await onSmallDisk("8m", command).succeeded()
            #expect(try left().contains { $0.hasSuffix(" out") })
        }
    }

    @Test func aFullDiskLeavesWhatWasThere() async throws {
        try await sample.seal()
        let setup =
            "cp '\(sample.pack)' out && cp '\(sample.pack).json' out.json && cp '\(sample.keyFile)' key"
        for command in [seal, openAsTar] {
            // 200 KB are there already; there is no room for as many again.
            let check = "\(setup) && sha256sum out out.json key > '\(sample["sums"])'"
            let wrapper = Sandbox.smallDisk(
                "300k", at: disk, listing: sample["left"], setup: check)
            let verify = Command.shell(
                "\"$@\"; code=$?; sha256sum --quiet -c '\(sample["sums"])' && exit $code")
            try await sample.run("\(command) --force $KEYS", through: wrapper + verify).failed(
                71, naming: "\(disk)/out", "full")
            #expect(try left() == ["f key", "f out", "f out.json"])
        }
    }

    @Test func anEmptyFolderStaysWhenTheDiskIsFull() async throws {
        try await sample.seal()
        try await onSmallDisk("100k", open, setup: "mkdir out").failed(71)
        #expect(try left() == ["d out"])
    }

    @Test func keygenOnAFullDiskLeavesNothing() async throws {
        let wrapper = Sandbox.smallDisk(
            "4k", at: disk, listing: sample["left"],
            setup: "{ head -c 5000 /dev/zero > fill 2> /dev/null || :; }")
        try await sample.run("keygen -o \(disk)/key", through: wrapper).failed(
            71, naming: "\(disk)/key", "full")
        #expect(try left() == ["f fill"])
    }

    /// There is room for the pack, but not for the unpacked archive beside it.
    @Test func anArchiveThatIsTooLargeUnpacked() async throws {
        try await Tool.run("/bin/sh", "-c", "head -c 20000000 /dev/zero > '\(sample.level)/zeros'")
        let archive = sample["level.tar.zst"]
        try await Tool.run("tar", "--zstd", "-cf", archive, "-C", sample.level, ".")
        try await onSmallDisk("4m", "seal \(archive) -o \(disk)/out").failed(71, naming: "full")
        #expect(try left() == [])
    }

    @Test func aReadOnlyFolderStaysAsItIs() async throws {
        try await sample.seal()
        try sample.write("disk/level.avpack", "precious")
        try sample.makeFolder("disk/empty")
        try await sample.unchanged {
            for command in commands + ["open $PACK -o \(disk)/empty"] {
                try await sample.run("\(command) $KEYS", through: Sandbox.readOnly(disk)).failed(
                    73, naming: disk)
            }
            try await sample.run(
                "seal $LEVEL -o \(disk)/level.avpack --force $KEYS", through: Sandbox.readOnly(disk)
            ).failed(73, naming: disk)
            try await sample.run("keygen -o \(disk)/key", through: Sandbox.readOnly(disk)).failed(
                73, naming: disk)
        }
    }

    /// Packs on a read-only disk are readable.
    @Test func aReadOnlyFolderCanBeRead() async throws {
        try sample.write("disk/level.avpack", try await packBytes())
        try sample.write(
            "disk/level.avpack.json", try sample.bytes("level.avpack.json"))
        let wrapper = Sandbox.readOnly(disk)
        let pack = "\(disk)/level.avpack"
        try await sample.run("open \(pack) -o $WORK/opened $KEYS", through: wrapper).succeeded()
        let answer = try await sample.run("cat \(pack) run.sh $KEYS", through: wrapper).succeeded()
        #expect(answer.text == "#!/bin/sh\n")
        try await sample.run("inspect \(pack)", through: wrapper).succeeded()
    }

    private func packBytes() async throws -> [UInt8] {
        try await sample.seal()
        return try sample.bytes("level.avpack")
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
        try await sample.seal()
        let command =
            switch work {
            case "seal": seal
            case "open": open
            default: openAsTar
            }
        try await sample.unchanged {
            try await sample.run(
                "\(command) $KEYS", through: Sandbox.injecting("error=EIO", into: call, number: number)
            ).failed(74, naming: disk)
        }
    }
}
