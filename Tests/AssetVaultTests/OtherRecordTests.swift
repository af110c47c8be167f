import Glibc
import SealedPack
import Testing
import VaultBase
import VaultFileSystem

@testable import AssetVault

/// Records of the other role, which another user may have written.
@Suite struct OtherRecordTests {
    private let world: World

    init() async throws {
        world = try await World()
        try await world.publish(["file": [1, 2, 3]])
    }

    private var layout: StoreLayout { world.layout }

    /// A valid record, padded with spaces; of the app's own as much is read.
    @Test func aLargeOneIsRefused() async throws {
        let client = try await world.fetched(.opened)
        let own = layout.recordPath(of: .one, in: .app)
        let other = layout.recordPath(of: .one, in: .downloader)
        let bytes = try DurableFile.read(own, limit: 1 << 20)
        try FileSystem.createFolders(other.removingLastComponent(), permissions: 0o700)
        let records = PackRecords(layout: layout, role: .app)
        let limit = StoreArea.FileKind.record.limit
        for count in [limit, limit + 1] {
            let padded = bytes + Array(repeating: UInt8(ascii: " "), count: count - bytes.count)
            for path in [own, other] {
                try DurableFile.write(padded.span, to: path, permissions: 0o600, replacing: true)
            }
            #expect(try records.record(of: .one, in: .app).loaded?.pack.version == 1)
            let isRefused = await category { _ = try records.record(of: .one, in: .downloader) } == .corrupt
            #expect(isRefused == (count > limit))
            #expect(try await client.store.status(of: .one).state == .loaded)
        }
    }

    /// Hosts and signers choose texts that stand in a record.
    @Test func anyTextIsKept() throws {
        var record = PackRecord()
        record.failure = PackFailure(
            VaultError(.io, "\u{0}\u{1}\n\u{7f}\"\\\u{202E}", at: "host", remedy: "none"))
        #expect(try PackRecord(parsing: record.bytes, place: "test") == record)
    }

    /// Larger than memory: status, fetch and removal ignore it.
    @Test func aHugeOneIsIgnored() async throws {
        let client = try await world.fetched(.opened)
        let other = layout.recordPath(of: .one, in: .downloader)
        try FileSystem.createFolders(other.removingLastComponent(), permissions: 0o700)
        try OpenFile(creating: other, permissions: 0o600).truncate(to: 1 << 40)
        try await world.publish(["file": [4, 5, 6]])
        #expect(try await client.store.status(of: .one).state == .loaded)
        #expect(try await client.costs().map(\.version) == [2])
        _ = try await client.fetch()
        #expect(try await client.store.status(of: .one).loadedVersion == 2)
        try await client.remove(.one)
        #expect(try await client.store.status(of: .one).state == .absent)
    }

    /// Nobody else may lock what belongs to the app alone.
    @Test(arguments: [0o700, 0o2770] as [UInt16]) func locksBelongToTheirRole(shared: UInt16) async throws {
        try FileSystem.createFolders(layout.permanent.removingLastComponent(), permissions: 0o755)
        for area in [layout.ephemeral, layout.shared] {
            _ = try Folder(creating: area, permissions: shared)
        }
        _ = try await world.fetched(.opened)
        let locks = [
            layout.permanent.appending("@lock"), layout.trust(of: .app).appending("lock"),
            layout.shared.appending("@lock"),
        ]
        #expect(
            try locks.map { try FileSystem.status(of: $0)?.permissions }
                == [0o600, 0o600, shared == 0o700 ? 0o600 : 0o640])
    }
}
