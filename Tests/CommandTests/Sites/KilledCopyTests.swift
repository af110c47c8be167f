import Foundation
import Testing

/// Copies and repairs of sites that are killed. `Scripts/Sites/mirror.txt` and `site-repair.txt` have those that come to their end.
struct KilledCopyTests {
    let world: World
    private let mirror: Words = "mirror $SITE $WORK/copy $TRUST"

    init() async throws {
        world = try await World("one", "two")
        try await world.run(mirror).succeeded()
    }

    /// Kills a command at each of its steps, beginning with the copy as it is now. The next run completes it.
    ///
    /// - Parameter look: Looks at what is left.
    private func killAtEachStep(of command: Words, _ look: () async throws -> Void) async throws {
        try await world.copy("copy", to: "before")
        for call in ["renameat2", "renameat", "fsync"] {
            try await Killing.atEach(call, 1...40, isAlwaysCalled: false) { _, wrapper in
                try world.remove("copy")
                try await world.copy("before", to: "copy")
                let killed = try await world.run(command, through: wrapper)
                guard killed.exitCode != 0 else { return killed }
                try await look()
                try await world.run(command).succeeded()
                #expect(try Tree(world["copy"]) == Tree(world.site))
                return killed
            }
        }
    }

    /// The copy is sound at any time, in the old state or the new one, and the next run completes it.
    @Test func copyKilledAtEachStep() async throws {
        for name in ["one", "two"] { try world.write("\(name)/file", "\(name), version 2") }
        try await world.publish()
        var seen: Set<Int64> = []
        try await killAtEachStep(of: mirror) {
            try await world.run("audit $WORK/copy $TRUST").succeeded()
            let version = try world.json("copy/metadata/timestamp.json")["signed", "version"]?.number
            seen.insert(try #require(version))
        }
        #expect(seen.contains(1))
    }

    /// Each file is at any time as it was, or as it was signed, and the next run repairs the rest.
    @Test func repairKilledAtEachStep() async throws {
        let names = [try world.publishedPack("one"), "metadata/1.targets.json", "metadata/timestamp.json"]
        let sound = try names.map { try world.bytes("copy/\($0)") }
        let damaged = sound.map { bytes in bytes.prefix(70) + bytes.dropFirst(70).map { $0 ^ 1 } }
        for (name, bytes) in zip(names, damaged) { try world.write("copy/\(name)", Array(bytes)) }
        var seen: Set<Int> = []
        try await killAtEachStep(of: "repair $WORK/copy --from $SITE $TRUST") {
            let found = try names.map { try world.bytes("copy/\($0)") }
            for index in names.indices {
                #expect(found[index] == sound[index] || found[index] == Array(damaged[index]))
            }
            seen.insert(names.indices.count { found[$0] == sound[$0] })
        }
        #expect(seen.contains(0))
    }
}
