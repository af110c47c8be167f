import Foundation
import SealedPack
import SystemPackage
import Testing
import VaultFileSystem

/// Sealed packs on a disk that fails reads, while somebody reads them, and when their repair is killed.
@Suite(.timeLimit(.minutes(5))) struct RepairTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for name in ["one", "two"] {
            try folder.write("\(name)/file", Bytes.random(600_000, seed: name == "one" ? 1 : 2))
        }
        try await testSite.publish("--pack", "one=\(folder["one"])", "--pack", "two=\(folder["two"])")
        try await testSite.fetch(nil, "--sealed").succeeded()
    }

    private func kept(_ id: String) throws -> String {
        let name = try #require(testSite.files(in: "permanent/\(id)").first { $0.hasSuffix(".avpack") })
        return "store/permanent/\(id)/\(name)"
    }

    private func isSound(_ id: String) throws -> Bool {
        try folder.bytes(kept(id)) == folder.bytes("vault/site/\(testSite.publishedPack(id))")
    }

    private func damage(_ id: String) throws {
        var bytes = try folder.bytes(kept(id))
        bytes[bytes.count / 2] ^= 1
        try folder.write(kept(id), bytes)
    }

    private func repair(through wrapper: [String] = []) async throws -> CommandResult {
        try await Command.run(
            ["repair", testSite.site, "--store", testSite.store, "--trust", testSite.root],
            through: wrapper)
    }

    /// What a disk does not give back any more is fetched. Calls are counted in each thread: one reads header, footer and
    /// index, any of them what follows.
    @Test(arguments: 1...3) func anUnreadableSector(number: Int) async throws {
        try await expectRepaired(failingFrom: number)
    }

    /// Of so many reads some thread makes its share, and half of that is past the index.
    @Test func anUnreadableSectorAmongPieces() async throws {
        try folder.write("one/file", Bytes.random(30_000_000, seed: 3))
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        let log = folder["reads"]
        let counting = [
            "strace", "-f", "-qq", "-o", log, "-P", folder[try kept("one")], "-e", "trace=pread64",
        ]
        _ = try await repair(through: counting).succeeded()
        let reads = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let share = reads.count / (ProcessInfo.processInfo.activeProcessorCount + 1)
        try #require(share >= 8, "\(reads.count) reads")
        try await expectRepaired(failingFrom: share / 2)
    }

    private func expectRepaired(failingFrom number: Int) async throws {
        let bad = folder[try kept("one")]
        let log = folder["strace"]
        let wrapper =
            ["strace", "-f", "-qq", "-o", log, "-P", bad]
            + ["-e", "inject=read,pread64,copy_file_range:error=EIO:when=\(number)+"]
        let result = try await repair(through: wrapper).succeeded()
        #expect(try String(contentsOfFile: log, encoding: .utf8).contains("(INJECTED)"))
        #expect(result.errorText.contains("repaired  one"))
        #expect(try isSound("one") && isSound("two"))
    }

    /// The same for a waiting pack.
    @Test func anUnreadableSectorOfAWaitingPack() async throws {
        let store = folder["waiting"]
        try await testSite.fetch(into: store, withKeys: false).succeeded()
        let name = try #require(
            testSite.files(in: "shared/packs/one", of: store).first { $0.hasSuffix(".avpack") })
        let wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", "\(store)/shared/packs/one/\(name)"]
        let failing = ["-e", "inject=pread64:error=EIO:when=1+"]
        try await testSite.fetch(into: store, through: wrapper + failing).succeeded()
        #expect(try await testSite.tree(of: "one", in: store) == Tree(folder["one"]))
    }

    /// A reader keeps the damaged version, also when it is replaced.
    @Test func aReaderKeepsTheDamagedVersion() async throws {
        try damage("one")
        let name = try kept("one")
        let reader = OpenFileReference(try OpenFile(reading: FilePath(folder[name])))
        #expect(try reader.file.tryLock(exclusive: false))
        #expect(try await repair().succeeded().errorText.contains("repaired  one"))
        #expect(try isSound("one"))
        try damage("one")
        try await repair().failed(75, naming: "one")
        #expect(try testSite.files(in: "permanent/one").allSatisfy { !$0.hasSuffix(".repaired") })
        for version in 2...3 {
            try folder.write("one/file", "version \(version)")
            try await testSite.publish()
            try await testSite.fetch().succeeded()
            let files = try testSite.files(in: "permanent/one")
            #expect(files.contains { name.hasSuffix($0) }, "a version in use stays: \(files)")
            #expect(try reader.file.status().hardLinks == 1)
        }
        reader.file.unlock()
        try await testSite.fetch().succeeded()
        let files = try testSite.files(in: "permanent/one")
        #expect(files.count == 2 && files.allSatisfy { $0.hasPrefix("@3-") }, "\(files)")
    }

    @Test func theDamagedVersionGoesAfterItsReader() async throws {
        let names = try testSite.files(in: "permanent/one")
        try damage("one")
        let reader = OpenFileReference(try OpenFile(reading: FilePath(folder[kept("one")])))
        #expect(try reader.file.tryLock(exclusive: false))
        try await repair().succeeded()
        #expect(try testSite.files(in: "permanent/one") != names)
        reader.file.unlock()
        try await testSite.fetch().succeeded()
        #expect(try testSite.files(in: "permanent/one") == names)
    }

    /// Damage that leaves the file's size and time as they were, as that of a disk does.
    private func damageSilently(_ id: String) async throws {
        let path = folder[try kept(id)]
        let file = try OpenFile(updating: FilePath(path))
        try await Tool.run("touch", "-r", path, folder["times"])
        let offset = try file.status().size / 2
        try file.write([file.readExactly(1, at: offset)[0] ^ 1].span, at: offset)
        try await Tool.run("touch", "-r", folder["times"], path)
    }

    private func expectDamage(of pack: String? = nil, through wrapper: [String] = []) async throws {
        let pack = pack ?? "\(testSite.store)/permanent/one/current"
        let result = try await Command.run(["cat", pack, "file"] + testSite.keys, through: wrapper)
        #expect(result.exitCode == 65 && result.errorText.contains("repair the pack"), "\(result.errorText)")
    }

    /// A reader that may not change the store fails, and nothing else.
    @Test func damageThatAReaderMayNotNote() async throws {
        try await damageSilently("one")
        let failing = Sandbox.injecting("error=EACCES", into: "utimensat", number: 1)
        try await expectDamage(through: failing)
        try await expectDamage(through: Sandbox.readOnly(testSite.store))
        // What the pack does not have is no damage.
        let current = "\(testSite.store)/permanent/one/current"
        try await Command.run(["cat", current, "no"] + testSite.keys).failed(66, naming: "no such file")
        // A pack of the author's is no store's.
        try await Tool.run("cp", "-p", folder[try kept("one")], folder["copy.avpack"])
        try await Tool.run("cp", folder[try kept("one") + ".json"], folder["copy.avpack.json"])
        let before = try #require(try FileSystem.status(of: FilePath(folder["copy.avpack"]))).modified
        try await expectDamage(of: folder["copy.avpack"])
        #expect(try FileSystem.status(of: FilePath(folder["copy.avpack"]))?.modified == before)
        try await testSite.fetch().succeeded()
        #expect(try !isSound("one"))
    }

    /// Files of a killed repair are removed.
    @Test(arguments: ["renameat2", "fsync", "unlinkat"]) func killedAtEachStep(call: String) async throws {
        let names = try testSite.files(in: "permanent/one")
        var kills = 0
        for number in 1...40 {
            try damage("one")
            let wrapper =
                ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)"]
                + ["-e", "inject=\(call):signal=KILL:when=\(number)"]
            let result = try await repair(through: wrapper)
            if result.exitCode != 0 { kills += 1 }
            try await repair().succeeded()
            #expect(try isSound("one"))
            try await testSite.fetch(nil, "--sealed").succeeded()
            #expect(try testSite.files(in: "ephemeral") == [])
            #expect(try testSite.files(in: "permanent/one") == names)
            if result.exitCode == 0 { break }
        }
        #expect(kills > 0)
    }
}
