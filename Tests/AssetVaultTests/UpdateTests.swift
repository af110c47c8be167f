import AssetVault
import Sampling
import Testing
import VaultFileSystem

/// Readers during updates see one version or another, never a mixture.
@Suite struct UpdateTests {
    private static let versions: UInt8 = Sampling.isWhole ? 50 : 12

    /// Every byte of every file says which version it belongs to.
    private static func files(_ version: UInt8) -> [String: [UInt8]] {
        [
            "a.bin": [UInt8](repeating: version, count: 200_000), "deep/b.bin": [version],
            "c.bin": [version, version],
        ]
    }

    @Test(arguments: [PackForm.opened, .sealed]) func readersSeeOldOrNew(form: PackForm) async throws {
        let world = try await World()
        try await world.publish(Self.files(1))
        let writer = try await world.fetched(form)
        let isDone = Flag()
        let place = world.place
        try await withThrowingTaskGroup(of: Set<UInt8>.self) { group in
            for number in 0..<2 {
                // One shares the writer's client, one has its own.
                let store = number == 0 ? writer.store : place.store()
                group.addTask { try await Self.readOn(store, until: isDone) }
            }
            for version in 2...Self.versions {
                try await world.publish(Self.files(version))
                _ = try await writer.fetch()
            }
            isDone.set()
            for try await seen in group {
                #expect(seen.count > 1)
                #expect(seen.contains(Self.versions))
            }
        }
        _ = try await writer.fetch()
        #expect(try place.staged().count == 2)
    }

    /// Gives the versions seen.
    private static func readOn(_ store: VaultStore, until isDone: Flag) async throws -> Set<UInt8> {
        var seen: Set<UInt8> = []
        var newest: UInt8 = 0
        var isLast = false
        while true {
            let alone = try await store.contents(of: EntryPath("a.bin"), in: .one)
            let stamp = try #require(alone.first)
            #expect(alone == [UInt8](repeating: stamp, count: 200_000))
            let lease = try await store.held(.one)
            #expect(lease.isEnforced)
            var together: Set<UInt8> = [UInt8(lease.version)]
            for path in ["c.bin", "deep/b.bin", "a.bin"] {
                together.formUnion(try await lease.bytes(path))
            }
            #expect(together.count == 1)
            #expect(stamp >= newest && UInt8(lease.version) >= stamp)
            newest = UInt8(lease.version)
            seen.formUnion([stamp, newest])
            if isLast { return seen }
            isLast = isDone.isSet
            // The writer is to have its turn, too.
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
