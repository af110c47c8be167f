import Foundation
import Sampling
import SystemPackage
import Testing
import VaultCrypto
import VaultFileSystem

@testable import SealedPack

/// Each call that changes a disk, failing once: the command says so, what is in use stays whole, and the same command once
/// more ends right.
@Suite(.timeLimit(.minutes(60))) struct DiskFaultTests {
    @Test(arguments: [KilledOperation.opened, .sealed, .downloader, .unlock, .remove])
    func oneCallFails(operation: KilledOperation) async throws {
        let stores = try await KilledStores(operation, from: .loaded)
        let faults = try await self.faults(of: stores)
        try #require(faults.chosen.count > (Sampling.isWhole ? 10 : 1))
        var failures = 0
        for (round, fault) in (faults.chosen + faults.others).enumerated() {
            // Some calls may fail without harm: where the sample has no others, one more is found.
            if round >= faults.chosen.count, failures > 0 { break }
            let hint = "\(operation), \(fault)"
            let store = try await stores.store("store-\(round)")
            let result = try await stores.runFromFolder(in: store, through: fault.wrapper)
            if result.exitCode != 0 {
                failures += 1
                expectReported(result, fault, hint)
            }
            try await stores.expectOldOrNew(in: store, hint)
            try await stores.expectNothingHalf(in: store, hint)
            try await stores.runFromFolder(in: store).succeeded()
            try await stores.expectEnd(in: store, hint)
            try FileManager.default.removeItem(atPath: store)
        }
        let count = faults.chosen.count
        #expect(failures > (Sampling.isWhole ? count / 2 : 0), "\(failures) of \(count)")
        print("\(operation): \(count) faults, \(failures) of which made the command fail")
    }

    private func faults(of stores: KilledStores) async throws
        -> (chosen: [DiskFault], others: [DiskFault])
    {
        let store = try await stores.store("counted")
        let counting = Sandbox.tracing(
            DiskFault.calls.joined(separator: ","), to: stores.world["calls"])
        try await stores.runFromFolder(in: store, through: counting).succeeded()
        return DiskFault.all(
            countedIn: try stores.world.text("calls"),
            contradictsRecord: [.sealed, .unlock].contains(stores.operation),
            for: "oneCallFails \(stores.operation)")
    }

    /// One line, as I/O or a full disk. A failing `openat` may be the loader's, without which no program runs.
    private func expectReported(_ result: CommandResult, _ fault: DiskFault, _ hint: String) {
        if fault.call == "openat" { return }
        #expect(
            result.exitCode == (fault.error == "ENOSPC" ? 71 : 74), "\(result.errorText) \(hint)")
        #expect(result.errorText.split(separator: "\n").count == 1, "\(result.errorText) \(hint)")
    }

    /// Files that could not be synced are removed: a second `fsync` may succeed without saving them. (A pack is
    /// synced before it is renamed.)
    @Test(arguments: [KilledOperation.opened, .sealed, .downloader, .unlock])
    func unsyncedFilesAreDiscarded(operation: KilledOperation) async throws {
        let stores = try await KilledStores(operation, from: .loaded)
        let library = try await PreloadedLibrary.through(
            PreloadedLibrary.failingSync, in: stores.world.folder)
        let count = try await syncedFiles(failing: 0, through: library, of: stores).count
        try #require(count > 0)
        for number in Array(1...count).sample(3, for: "unsyncedFilesAreDiscarded \(operation)") {
            let files = try await syncedFiles(failing: number, through: library, of: stores)
            let failed = try #require(files.dropFirst(number - 1).first)
            let stays = try FileSystem.status(of: FilePath(failed)) != nil
            #expect(stays == failed.hasSuffix(".avpack"), "\(failed): \(operation), file \(number)")
            try FileManager.default.removeItem(atPath: stores.world["store-\(number)"])
        }
    }

    /// The paths of the files that are synced, in their order, when that fails for the `number`th one.
    private func syncedFiles(
        failing number: Int, through library: [String], of stores: KilledStores
    ) async throws -> [String] {
        let store = try await stores.store("store-\(number)")
        let log = stores.world["synced-\(number)"]
        let wrapper = library + ["SYNC_LOG=\(log)", "SYNC_NUMBER=\(number)"]
        try await stores.runFromFolder(in: store, through: wrapper)
        return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}

extension KilledStores {
    /// Runs the command as it is shipped, straight from the site's folder.
    @discardableResult
    func runFromFolder(in store: String, through wrapper: [String] = []) async throws -> CommandResult {
        try await world.run(operation.words(world.site, store), through: wrapper)
    }

    /// Every file with a final name is complete, whether or not it is in use.
    func expectNothingHalf(in store: String, _ hint: String) async throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(store)/permanent/level")
        where name.hasPrefix("@") && !name.hasSuffix(".json") && !name.hasSuffix(".arriving") {
            let path = "\(store)/permanent/level/\(name)"
            if name.hasSuffix(".tail") {
                _ = try PieceRanges(of: PackFile(opening: FilePath(path), as: nil))
                continue
            }
            let version = try await version(of: path)
            #expect(version.map { name.hasPrefix("@\($0)-") } == true, "\(name) is not whole \(hint)")
        }
        let waiting = "\(store)/shared/packs/level"
        guard FileManager.default.fileExists(atPath: waiting) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: waiting)
        where name.hasPrefix("@") && !name.hasSuffix(".json") {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(waiting)/\(name)")))
            #expect(name == "@\(SHA256.hash(bytes.span).hex).avpack", "\(name) is not whole \(hint)")
        }
    }
}
