import AssetVault
import FaultServer
import Glibc
import Sampling
import Testing
import VaultAuthoring
import VaultFileSystem

/// The resources that reading uses, measured in separate processes.
@Suite struct ResourceTests {
    @Test(arguments: ["opened", "sealed"]) func openFileDescriptorsStayConstant(form: String) async throws {
        let world = try await World()
        try await world.publish(["map.json": World.secret])
        _ = try await world.fetched(try #require(PackForm(rawValue: form)))
        await #expect(processExitsWith: .success) {
            [place = world.place as Place] in
            let store = place.store()
            let path = try EntryPath("map.json")
            func round() async throws {
                _ = try await store.held(.one)
                _ = try await store.contents(of: path, in: .one)
                let reader = try await store.reader(of: path, in: .one)
                _ = try await reader.read(0..<reader.size)
                try await store.fileDescriptor(of: path, in: .one).close()
                _ = try? await store.contents(of: EntryPath("no"), in: .one)
                _ = try? await store.url(for: path, in: .one)
                _ = try? await place.store().contents(of: path, in: .one)
            }
            try await round()
            let before = try openDescriptors()
            for _ in 0..<Sampling.rounds(150, whole: 1_000) { try await round() }
            // A task that has ended may hold the file that it opened for a moment longer.
            #expect(abs(try openDescriptors() - before) <= 1)
        }
    }

    /// Reading 48 MiB range by range takes little memory.
    @Test(arguments: ["opened", "sealed"]) func memoryStaysConstant(form: String) async throws {
        let world = try await World()
        let source = FilePath(world.place.root).appending("large")
        try FileSystem.createFolders(source, permissions: 0o755)
        try OpenFile(creating: source.appending("zeros"), permissions: 0o644).truncate(to: 48 << 20)
        try await world.publish(source)
        _ = try await world.fetched(try #require(PackForm(rawValue: form)))
        await #expect(processExitsWith: .success) { [place = world.place as Place] in
            let reader = try await place.store().reader(of: EntryPath("zeros"), in: .one)
            #expect(reader.size == 48 << 20)
            let before = try highestMemory()
            var position: UInt64 = 0
            while position < reader.size {
                let end = min(position + 100_003, reader.size)
                #expect(try await reader.read(position..<end).count == Int(end - position))
                position = end
            }
            #expect(try highestMemory() - before < 16 << 10)
        }
    }

    /// Fetched over HTTP: downloaded and unlocked, or fetched, listed and removed.
    @Test(arguments: ["opened", "sealed"]) func repeatedFetchAndRemovalUsesNoMore(form: String) async throws {
        let world = try await World.withPacks()
        await #expect(processExitsWith: .success) {
            [place = world.place as Place, url = world.server.url as String, form = form as String]
            in
            var configuration = VaultConfiguration(
                site: try SiteLocation(url), store: place.layout,
                trustedRoot: try DurableFile.read(place.vault.trustedRoot, limit: 1 << 20), keys: place.keys)
            let wanted: PackForm = try #require(PackForm(rawValue: form))
            configuration.form = wanted
            let client = try VaultClient(configuration)
            let downloader = try PackDownloader(configuration)
            func round(_ number: Int) async throws {
                if number % 2 == 0 {
                    let report = try await downloader.run(.install)
                    if let error = report.firstError { throw error }
                    try await client.unlock()
                }
                _ = try await client.fetch(.only([.one]))
                #expect(try await client.store.contents(of: EntryPath("noise"), in: .one) == World.one)
                try await client.remove(.one)
                #expect(try await client.store.status(of: .one).state == .absent)
            }
            /// The least after one of the last rounds: what a round uses may be given back a moment later.
            func leastUse(of count: Int) async throws -> (descriptors: Int, memory: Int) {
                var least = (descriptors: Int.max, memory: Int.max)
                for number in 0..<count {
                    try await round(number)
                    guard number >= count - 4 else { continue }
                    least.descriptors = min(least.descriptors, try openDescriptors())
                    least.memory = min(least.memory, try memory("VmRSS"))
                }
                return least
            }
            let before = try await leastUse(of: Sampling.rounds(12, whole: 40))
            let after = try await leastUse(of: Sampling.rounds(16, whole: 60))
            #expect(after.descriptors <= before.descriptors + 1)
            #expect(after.memory < before.memory + 2 << 10)
        }
        // Nothing but records and the metadata is left.
        #expect(try Folder(opening: world.layout.ephemeral).names().isEmpty)
    }
}

private func openDescriptors() throws -> Int { try Folder(opening: "/proc/self/fd").names().count }

private func highestMemory() throws -> Int { try memory("VmHWM") }

/// KiB.
private func memory(_ kind: String) throws -> Int {
    let status = try DurableFile.read("/proc/self/status", limit: 1 << 16)
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(kind) }
    return try #require(line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
}
