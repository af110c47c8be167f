import Sampling
import SystemPackage
import Testing

/// Sealing and opening 700 MB (220 MB in a sample) takes less than 128 MiB of memory, and one file is read without the rest.
@Suite(.serialized) struct LargePackTests {
    /// 128 MiB in KiB, as GNU time counts the largest resident set.
    static let memoryLimit = 128 << 10

    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    private func makeLargeLevel() async throws {
        let script = """
            mkdir large; cd large
            head -c \(Sampling.isWhole ? 300 : 150)000000 /dev/urandom > 'large random.bin'
            head -c 10000000 /dev/urandom > other.bin
            i=0; while [ $i -lt \(Sampling.isWhole ? 7 : 1) ]; do i=$((i+1)); seq 1 7500000 > numbers$i.txt; done
            mkdir 'empty folder' deep; : > deep/nothing; echo small > deep/größe.txt
            """
        try await Tool.run("/bin/sh", "-ec", script, workingDirectory: sample.path)
    }

    private func expectLittleMemory(
        _ words: Words, through wrapper: [String] = [], at location: SourceLocation = #_sourceLocation
    ) async throws {
        let memory = try await sample.memory(of: "\(words) $KEYS", through: wrapper)
        #expect(memory < Self.memoryLimit, sourceLocation: location)
    }

    @Test func memoryIsBounded() async throws {
        try await makeLargeLevel()
        let large = sample["large"]
        let size = try #require(
            Int(try await Tool.run("du", "-sb", large).text.split(separator: "\t")[0]))
        try #require(size > (Sampling.isWhole ? 700_000_000 : 210_000_000))
        let toNull = Command.shell("exec \"$@\" > /dev/null")

        try await expectLittleMemory("seal \(large) -o $PACK")
        try await expectLittleMemory("seal \(large) -o $WORK/again --previous $PACK")
        try await Tool.run("cmp", sample.pack, sample["again"])
        try sample.remove("again")

        try await expectLittleMemory("open $PACK -o $WORK/opened")
        try await Tool.run("diff", "-r", large, sample["opened"])
        try sample.remove("opened")
        try await expectLittleMemory("open $PACK --tar -", through: toNull)
        try await expectLittleMemory("cat $PACK \("large random.bin")", through: toNull)
        try await expectLittleMemory("inspect $PACK", through: toNull)

        try await readsLittleForOneFile()

        // The same from a stream that is unpacked first.
        let stream = Command.shell("tar c -C '\(large)' . | \"$@\"")
        try await expectLittleMemory("seal - -o $WORK/piped --previous $PACK", through: stream)
        try await Tool.run("cmp", sample.pack, sample["piped"])
    }

    /// All that the process reads and maps counts: an ordinary user's strace can't tell the files of a hardened
    /// process.
    private func readsLittleForOneFile() async throws {
        let traces = try sample.makeFolder("traces")
        // A log for each thread: no line is broken off.
        let strace = [
            "strace", "-ff", "-qq", "-o", "\(traces)/t", "-e", "trace=read,readv,pread64,preadv,preadv2,mmap",
        ]
        let result = try await sample.run("cat $PACK deep/größe.txt $KEYS", through: strace).succeeded()
        #expect(result.text == "small\n")
        var count = 0
        var preads = 0
        for name in try sample.names(in: "traces") {
            let log = try sample.text("traces/\(name)")
            for line in log.split(separator: "\n") {
                if line.contains("mmap(") {
                    let size = line.split(separator: ", ").dropFirst().first.flatMap { Int($0) } ?? 0
                    #expect(line.contains("MAP_ANONYMOUS") || size < 50_000_000, "\(line)")
                } else if let answer = line.split(separator: " = ").last.flatMap({ Int($0) }) {
                    count += answer
                    preads += line.contains("pread64(") ? 1 : 0
                }
            }
        }
        #expect(preads > 3)
        #expect(count > 1_000 && count < 2 << 20, "\(count)")
    }
}
