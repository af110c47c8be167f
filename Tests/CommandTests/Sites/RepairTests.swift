import Foundation
import SealedPack
import SystemPackage
import Testing
import VaultFileSystem

/// Sealed packs on a disk that fails reads, while somebody reads them, and when their repair is killed.
@Suite(.timeLimit(.minutes(5))) struct RepairTests {
    let world: World

    init() async throws {
        world = try await World("one", "two") {
            for (seed, name) in ["one", "two"].enumerated() {
                try $0.write("\(name)/file", Bytes.random(600_000, seed: UInt64(seed + 1)))
            }
        }
        try await world.fetch("--sealed").succeeded()
    }

    private func kept(_ id: String) throws -> String {
        let name = try #require(world.files(in: "permanent/\(id)").first { $0.hasSuffix(".avpack") })
        return "store/permanent/\(id)/\(name)"
    }

    private func isSound(_ id: String) throws -> Bool {
        try world.bytes(kept(id)) == world.publishedBytes(of: id)
    }

    private func damage(_ id: String) throws {
        let name = try kept(id)
        try world.flipBit(of: name, at: world.bytes(name).count / 2)
    }

    private func repair(through wrapper: [String] = []) async throws -> CommandResult {
        try await world.run("repair $SITE $STORE $TRUST", through: wrapper)
    }

    /// What a disk does not give back any more is fetched. Calls are counted in each thread: one reads header, footer and
    /// index, any of them what follows.
    @Test(arguments: 1...3) func anUnreadableSector(number: Int) async throws {
        try await expectRepaired(failingFrom: number)
    }

    /// Of so many reads some thread makes its share, and half of that is past the index.
    @Test func anUnreadableSectorAmongPieces() async throws {
        try world.write("one/file", Bytes.random(30_000_000, seed: 3))
        try await world.publish()
        try await world.fetch().succeeded()
        let counting = Sandbox.tracing("pread64", to: world["reads"], on: world[try kept("one")])
        try await repair(through: counting).succeeded()
        let reads = try world.lines("reads")
        let share = reads.count / (ProcessInfo.processInfo.activeProcessorCount + 1)
        try #require(share >= 8, "\(reads.count) reads")
        try await expectRepaired(failingFrom: share / 2)
    }

    private func expectRepaired(failingFrom number: Int) async throws {
        let failing = Sandbox.injecting(
            "error=EIO", into: "read,pread64,copy_file_range", on: world[try kept("one")], from: number,
            log: world["strace"])
        let result = try await repair(through: failing).succeeded()
        #expect(try world.text("strace").contains("(INJECTED)"))
        #expect(result.errorText.contains("repaired  one"))
        #expect(try isSound("one") && isSound("two"))
    }

    /// The same for a waiting pack.
    @Test func anUnreadableSectorOfAWaitingPack() async throws {
        let store = world["waiting"]
        try await world.fetch(into: store, withKeys: false).succeeded()
        let name = try #require(
            world.files(in: "shared/packs/one", of: store).first { $0.hasSuffix(".avpack") })
        let failing = Sandbox.injecting("error=EIO", into: "pread64", on: "\(store)/shared/packs/one/\(name)")
        try await world.fetch(into: store, through: failing).succeeded()
        try await world.expectLoaded("one", in: store)
    }

    /// A reader keeps the damaged version, also when it is replaced.
    @Test func aReaderKeepsTheDamagedVersion() async throws {
        try damage("one")
        let name = try kept("one")
        let reader = OpenFileReference(try OpenFile(reading: FilePath(world[name])))
        #expect(try reader.file.tryLock(exclusive: false))
        #expect(try await repair().succeeded().errorText.contains("repaired  one"))
        #expect(try isSound("one"))
        try damage("one")
        try await repair().failed(75, naming: "one")
        #expect(try world.files(in: "permanent/one").allSatisfy { !$0.hasSuffix(".repaired") })
        for version in 2...3 {
            try world.write("one/file", "version \(version)")
            try await world.publish()
            try await world.fetch().succeeded()
            let files = try world.files(in: "permanent/one")
            #expect(files.contains { name.hasSuffix($0) }, "a version in use stays: \(files)")
            #expect(try reader.file.status().hardLinks == 1)
        }
        reader.file.unlock()
        try await world.fetch().succeeded()
        let files = try world.files(in: "permanent/one")
        #expect(files.count == 2 && files.allSatisfy { $0.hasPrefix("@3-") }, "\(files)")
    }

    @Test func theDamagedVersionGoesAfterItsReader() async throws {
        let names = try world.files(in: "permanent/one")
        try damage("one")
        let reader = OpenFileReference(try OpenFile(reading: FilePath(world[kept("one")])))
        #expect(try reader.file.tryLock(exclusive: false))
        try await repair().succeeded()
        #expect(try world.files(in: "permanent/one") != names)
        reader.file.unlock()
        try await world.fetch().succeeded()
        #expect(try world.files(in: "permanent/one") == names)
    }

    /// Damage that leaves the file's size and time as they were, as that of a disk does.
    private func damageSilently(_ id: String) async throws {
        let path = world[try kept(id)]
        try await Tool.run("touch", "-r", path, world["times"])
        try damage(id)
        try await Tool.run("touch", "-r", world["times"], path)
    }

    private func expectDamage(of pack: String? = nil, through wrapper: [String] = []) async throws {
        let pack = pack ?? "\(world.store)/permanent/one/current"
        let result = try await world.run("cat \(pack) file $KEYS", through: wrapper)
        #expect(result.exitCode == 65 && result.errorText.contains("repair the pack"), "\(result.errorText)")
    }

    /// A reader that may not change the store fails, and nothing else.
    @Test func damageThatAReaderMayNotNote() async throws {
        try await damageSilently("one")
        let failing = Sandbox.injecting("error=EACCES", into: "utimensat", number: 1)
        try await expectDamage(through: failing)
        try await expectDamage(through: Sandbox.readOnly(world.store))
        // What the pack does not have is no damage.
        let current = "\(world.store)/permanent/one/current"
        try await world.run("cat \(current) no $KEYS").failed(66, naming: "no such file")
        // A pack of the author's is no store's.
        try await Tool.run("cp", "-p", world[try kept("one")], world["copy.avpack"])
        try await Tool.run("cp", world[try kept("one") + ".json"], world["copy.avpack.json"])
        let before = try #require(try FileSystem.status(of: FilePath(world["copy.avpack"]))).modified
        try await expectDamage(of: world["copy.avpack"])
        #expect(try FileSystem.status(of: FilePath(world["copy.avpack"]))?.modified == before)
        try await world.fetch().succeeded()
        #expect(try !isSound("one"))
    }

    /// Files of a killed repair are removed.
    @Test(arguments: ["renameat2", "fsync", "unlinkat"]) func killedAtEachStep(call: String) async throws {
        let names = try world.files(in: "permanent/one")
        let kills = try await Killing.atEach(call, 1...40, isAlwaysCalled: false) { _, wrapper in
            try damage("one")
            let result = try await repair(through: wrapper)
            try await repair().succeeded()
            #expect(try isSound("one"))
            try await world.fetch("--sealed").succeeded()
            #expect(try world.files(in: "ephemeral") == [])
            #expect(try world.files(in: "permanent/one") == names)
            return result
        }
        #expect(kills > 0)
    }
}
