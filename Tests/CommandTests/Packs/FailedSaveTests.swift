import Foundation
import SystemPackage
import Testing
import VaultFileSystem

/// `open --consume` frees pieces once the tree is saved to the disk. What happens where a save fails.
@Suite(.timeLimit(.minutes(5))) struct FailedSaveTests {
    let sample: SamplePack
    let library: [String]
    private var target: String { sample["out"] }

    /// 6 MB: three pieces are saved at a time.
    init() async throws {
        sample = try SamplePack()
        try sample.write("level/noise.bin", Bytes.random(6_000_000, seed: 3))
        try await sample.seal()
        library = try await PreloadedLibrary.through(PreloadedLibrary.failingFileSystemSync, in: sample)
    }

    private func open(failingAt number: Int, _ more: String...) async throws -> CommandResult {
        try await sample.run(
            "open $PACK -o \(target) --consume $KEYS", through: library + ["SYNC_NUMBER=\(number)"] + more)
    }

    private var allocated: UInt64 {
        get throws { try OpenFile(reading: FilePath(sample.pack)).dataLength }
    }

    /// Bytes of the large file in the tree, which is opened from its beginning.
    private var written: UInt64 {
        get throws {
            let name = try FileManager.default.contentsOfDirectory(atPath: sample.path.string).first {
                $0.hasSuffix(".opening")
            }
            return try FileSystem.status(of: FilePath(sample["\(name ?? "")/noise.bin"]))?.size ?? 0
        }
    }

    private func expectOpened() async throws {
        #expect(try FileSystem.status(of: FilePath(sample.pack)) == nil)
        try await Tool.run("diff", "-r", sample.level, target)
    }

    /// Each attempt fails at a later save, and each second one at its first: what was freed stays in the tree, and what was not saved
    /// goes.
    @Test func eachSaveFailsOnce() async throws {
        let whole = try allocated
        for number in 1..<20 {
            let result = try await open(failingAt: number)
            if result.exitCode == 0 {
                #expect(number > 4)
                return try await expectOpened()
            }
            for result in [result, try await open(failingAt: 1)] {
                try #require(result.exitCode == 74, "\(number) \(result.errorText)")
                let (written, freed) = (try written, try whole - allocated)
                #expect(written <= freed + 65_536, "\(number)")
                #expect(number < 3 || freed > 0, "\(number)")
            }
        }
        Issue.record("it never succeeds")
    }

    /// The last save comes when nothing more is to be freed. How many pieces it saves depends on the number of all.
    @Test(arguments: [6_000_000, 6_130_000, 6_260_000]) func theLastSaveFails(size: Int) async throws {
        try sample.write("level/noise.bin", Bytes.random(size, seed: 3))
        try FileManager.default.removeItem(atPath: sample.pack)
        try FileManager.default.removeItem(atPath: sample.pack + ".json")
        try await sample.seal()
        let (whole, bytes) = (try allocated, try sample.bytes("level.avpack"))
        for number in (4..<24).reversed() {
            let result = try await open(failingAt: number)
            if result.exitCode == 0 {
                try await expectOpened()
                try FileManager.default.removeItem(atPath: target)
                try sample.write("level.avpack", bytes)
                continue
            }
            result.failed(74, naming: "save the file system")
            #expect(try written <= whole - allocated + 65_536)
            try await open(failingAt: 0).succeeded()
            return try await expectOpened()
        }
        Issue.record("no save fails")
    }

    /// An attempt that ended before it saved the last pieces left them in the tree: they are saved before any is freed. Where it ends decides
    /// how many these are.
    @Test(arguments: [4_800_000, 4_930_000, 5_060_000] as [UInt64])
    func whatAnEarlierAttemptLeftIsSavedFirst(damage: UInt64) async throws {
        let file = try OpenFile(updating: FilePath(sample.pack))
        let sound = try file.readExactly(1, at: damage)
        try file.write([sound[0] ^ 1].span, at: damage)
        try await open(failingAt: 0).failed(65, naming: "is damaged")
        try file.write(sound.span, at: damage)
        let before = try allocated
        try await open(failingAt: 1).failed(74, naming: "save the file system")
        #expect(try allocated == before)
        try await open(failingAt: 0).succeeded()
        try await expectOpened()
    }

    /// Another file gets the name of the pack while that is opened.
    @Test func aPackThatIsReplacedMeanwhileStays() async throws {
        let other = try sample.write("other", "another pack")
        try await open(failingAt: 5, "RENAME_FROM=\(other)", "RENAME_TO=\(sample.pack)").succeeded()
        try await Tool.run("diff", "-r", sample.level, target)
        #expect(try sample.text("level.avpack") == "another pack")
    }
}
