import Sampling
import Testing

/// Disks that write only a part: the command writes the rest, or reports the failure.
@Suite(.timeLimit(.minutes(10))) struct ShortWriteTests {
    @Test(arguments: [KilledOperation.opened, .sealed, .downloader, .unlock, .remove])
    func everyWrite(operation: KilledOperation) async throws {
        let stores = try await KilledStores(operation, from: .loaded)
        let world = stores.world
        let shortening = try await PreloadedLibrary.through(PreloadedLibrary.shortWrites, in: world)
        let store = try await stores.store("short")
        let strace = Sandbox.tracing("pwrite64", to: world["calls"])
        try await stores.runFromFolder(in: store, through: strace + shortening).succeeded()
        let calls = try world.lines("calls")
        // A record of more than a hundred bytes takes several calls by now.
        #expect(calls.count >= 10, "\(calls.count)")
        try await stores.expectNothingHalf(in: store, "\(operation)")
        try await stores.expectEnd(in: store, "\(operation)")
    }

    /// A limit on file size: the write that reaches it is short, the next one fails.
    @Test(arguments: [KilledOperation.opened, .sealed, .downloader, .unlock])
    func theFileSizeLimit(operation: KilledOperation) async throws {
        let stores = try await KilledStores(operation, from: .loaded)
        // Within a record, a piece, the copied file.
        let blocks = stores.packLength / 512
        let limits =
            [1, 2, 3, 5].sample(1, for: "\(operation), records")
            + [blocks / 8, blocks / 4, blocks / 2].sample(1, for: "\(operation), packs")
        for limit in limits {
            let hint = "\(operation), files of at most \(limit) blocks of 512 bytes"
            let store = try await stores.store("store-\(limit)")
            let limiting = Command.shell("trap '' XFSZ; ulimit -f \(limit) && exec \"$@\"")
            let result = try await stores.runFromFolder(in: store, through: limiting)
            #expect(result.exitCode == 74, "\(result.exitCode) \(result.errorText) \(hint)")
            try await stores.expectOldOrNew(in: store, hint)
            try await stores.expectNothingHalf(in: store, hint)
            try await stores.runFromFolder(in: store).succeeded()
            try await stores.expectEnd(in: store, hint)
        }
    }
}
