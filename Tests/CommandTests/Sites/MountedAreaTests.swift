import Foundation
import Sampling
import Testing

/// Areas on separate file systems: full ones, read-only ones, and without renames between them.
@Suite(.timeLimit(.minutes(30)), .enabled(if: MountedAreas.areAllowed, "this user may not mount anything"))
struct MountedAreaTests {
    private static let operations: [KilledOperation] = [.opened, .sealed, .downloader, .unlock, .remove]
    private static let areas = ["ephemeral", "shared", "permanent"]

    /// Runs the command on the broken areas, expects nothing incomplete, then success on working ones.
    private func tryOut(
        _ stores: KilledStores, _ areas: [String], _ hint: String, through wrapper: [String] = [],
        spoiling spoil: (MountedAreas) async throws -> Void = { _ in }
    ) async throws -> CommandResult {
        let name = "store-\(UUID().uuidString)"
        let store = try await stores.store(name)
        var result: CommandResult?
        try await MountedAreas.mount(areas, of: store) { mounted in
            try await spoil(mounted)
            result = try await stores.runFromFolder(in: store, through: mounted.inside + wrapper)
            try await stores.world.run("status --store \(store)", through: mounted.inside).succeeded()
            let seen = try await mounted.seen()
            try await stores.expectOldOrNew(in: seen, hint)
            try await stores.expectNothingHalf(in: seen, hint)
            try await mounted.makeSpace()
            try await stores.runFromFolder(in: store, through: mounted.inside).succeeded()
            try await stores.expectEnd(in: mounted.seen(), hint)
        }
        try await Tool.run("/bin/sh", "-c", "rm -rf '\(stores.world[name])'*")
        return try #require(result)
    }

    /// The disk is full at once, or while a record, a manifest, a tree or a copied pack is written.
    @Test(arguments: Sampling.pairs(operations, areas, for: "full")) func fullDisk(
        operation: KilledOperation, area: String
    )
        async throws
    {
        let stores = try await KilledStores(operation, from: .loaded)
        for room in [0, 8, 1000].sample(1, for: "room in \(area) for \(operation)") {
            let hint = "\(operation), \(room) KiB left in \(area)"
            let result = try await tryOut(stores, [area], hint) {
                try await $0.leave(kibibytes: room, in: area)
            }
            expectFull(result, hint)
        }
        for room in [0, 1, 4].sample(1, for: "names in \(area) for \(operation)") {
            let hint = "\(operation), \(room) names left in \(area)"
            let result = try await tryOut(stores, [area], hint) { try await $0.leave(names: room, in: area) }
            expectFull(result, hint)
        }
    }

    private func expectFull(_ result: CommandResult, _ hint: String) {
        guard result.exitCode != 0 else { return }
        #expect(result.exitCode == 71 && result.errorText.contains("full"), "\(result.errorText) \(hint)")
    }

    @Test(arguments: Sampling.pairs(operations, areas, for: "readOnly")) func readOnly(
        operation: KilledOperation, area: String
    )
        async throws
    {
        let stores = try await KilledStores(operation, from: .loaded)
        let hint = "\(operation), \(area) is read-only"
        let result = try await tryOut(stores, [area], hint) { try await $0.remount(area, "ro") }
        guard result.exitCode != 0 else {
            // With the key an app leaves nothing in shared storage.
            let isPassedBy = area == "shared" && (operation == .opened || operation == .sealed)
            return #expect(area == "ephemeral" || operation == .downloader || isPassedBy, "\(hint)")
        }
        #expect([73, 74].contains(result.exitCode), "\(result.errorText) \(hint)")
        #expect(result.errorText.contains("read-only file system"), "\(result.errorText) \(hint)")
        print("\(hint): \(result.exitCode) \(result.errorText)")
    }

    /// Killed where a pack is copied from disk to disk, or where the copy gets its name.
    @Test(
        arguments: Sampling.pairs(
            operations, [["ephemeral"], ["shared"], ["permanent"], areas], for: "apart"))
    func separateDisks(operation: KilledOperation, areas: [String]) async throws {
        let stores = try await KilledStores(operation, from: .loaded)
        try await tryOut(stores, areas, "\(operation), \(areas) apart").succeeded()
        var killed = 0
        for call in ["pwrite64", "fsync", "renameat2", "unlinkat"] {
            let numbers = [1, 2, 3, 5, 8, 13].sample(1, for: "\(call) of \(operation), \(areas) apart")
            // There is a first call, whatever was drawn.
            for number in Sampling.isWhole ? numbers : numbers + [1] {
                let hint = "\(operation), \(areas) apart, killed at \(call) \(number)"
                let result = try await tryOut(
                    stores, areas, hint, through: Killing.at(call, number: number))
                guard result.exitCode == 137 else {
                    try result.succeeded()
                    if Sampling.isWhole { break } else { continue }
                }
                killed += 1
                if !Sampling.isWhole { break }
            }
        }
        #expect(killed > (Sampling.isWhole ? 3 : 0))
    }
}
