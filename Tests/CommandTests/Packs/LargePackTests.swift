import Foundation
import Sampling
import SystemPackage
import Testing

/// Sealing and opening 700 MB (220 MB in a sample) takes less than 128 MiB of memory, and one file is read without the rest.
@Suite(.serialized) struct LargePackTests {
    /// 128 MiB in KiB, as GNU time counts the largest resident set.
    static let memoryLimit = 128 << 10

    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    private func makeLargeLevel() async throws {
        let script = """
            mkdir large; cd large
            head -c \(Sampling.isWhole ? 300 : 150)000000 /dev/urandom > 'large random.bin'
            head -c 10000000 /dev/urandom > other.bin
            i=0; while [ $i -lt \(Sampling.isWhole ? 7 : 1) ]; do i=$((i+1)); seq 1 7500000 > numbers$i.txt; done
            mkdir 'empty folder' deep; : > deep/nothing; echo small > deep/größe.txt
            """
        try await Tool.run("/bin/sh", "-ec", script, workingDirectory: samplePack.folder.path)
    }

    /// Runs the command and returns its peak memory, in KiB.
    private func memory(_ arguments: [String], through wrapper: [String] = []) async throws -> Int {
        let time = ["/usr/bin/time", "-f", "%M", "-o", samplePack.folder["memory"]]
        try await Command.run(arguments + samplePack.keys, through: wrapper + time).succeeded()
        let text = String(decoding: try samplePack.folder.bytes("memory"), as: UTF8.self)
        return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test func memoryIsBounded() async throws {
        try await makeLargeLevel()
        let large = samplePack.folder["large"]
        let size = try #require(
            Int(try await Tool.run("du", "-sb", large).text.split(separator: "\t")[0]))
        try #require(size > (Sampling.isWhole ? 700_000_000 : 210_000_000))
        let toNull = Command.shell("exec \"$@\" > /dev/null")

        #expect(try await memory(["seal", large, "-o", samplePack.pack]) < Self.memoryLimit)
        let again = ["seal", large, "-o", samplePack.folder["again"], "--previous", samplePack.pack]
        #expect(try await memory(again) < Self.memoryLimit)
        try await Tool.run("cmp", samplePack.pack, samplePack.folder["again"])
        try await Tool.run("rm", samplePack.folder["again"])

        #expect(
            try await memory(["open", samplePack.pack, "-o", samplePack.folder["opened"]]) < Self.memoryLimit)
        try await Tool.run("diff", "-r", large, samplePack.folder["opened"])
        try await Tool.run("rm", "-r", samplePack.folder["opened"])
        #expect(
            try await memory(["open", samplePack.pack, "--tar", "-"], through: toNull) < Self.memoryLimit)
        #expect(
            try await memory(["cat", samplePack.pack, "large random.bin"], through: toNull) < Self.memoryLimit
        )
        #expect(try await memory(["inspect", samplePack.pack], through: toNull) < Self.memoryLimit)

        try await readsLittleForOneFile()

        // The same from a stream that is unpacked first.
        let stream = Command.shell("tar c -C '\(large)' . | \"$@\"")
        let piped = ["seal", "-", "-o", samplePack.folder["piped"], "--previous", samplePack.pack]
        #expect(try await memory(piped, through: stream) < Self.memoryLimit)
        try await Tool.run("cmp", samplePack.pack, samplePack.folder["piped"])
    }

    /// All that the process reads and maps counts: an ordinary user's strace can't tell the files of a hardened
    /// process.
    private func readsLittleForOneFile() async throws {
        let traces = try samplePack.folder.makeFolder("traces")
        // A log for each thread: no line is broken off.
        let strace = [
            "strace", "-ff", "-qq", "-o", "\(traces)/t", "-e", "trace=read,readv,pread64,preadv,preadv2,mmap",
        ]
        let result = try await Command.run(
            ["cat", samplePack.pack, "deep/größe.txt"] + samplePack.keys, through: strace
        ).succeeded()
        #expect(result.text == "small\n")
        var count = 0
        var preads = 0
        for name in try samplePack.folder.names(in: "traces") {
            let log = String(decoding: try samplePack.folder.bytes("traces/\(name)"), as: UTF8.self)
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
