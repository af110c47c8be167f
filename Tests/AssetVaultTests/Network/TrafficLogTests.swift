import SealedPack
import Testing
import VaultFileSystem

@testable import AssetVault

/// What was received, by day.
final class TrafficLogTests {
    private let folder: ScratchFolder
    private var store: StoreAccess { StoreAccess(layout: StoreLayout(root: folder.path), role: .app) }

    init() throws { folder = try ScratchFolder(in: "/dev/shm") }

    @Test func linesAreRead() throws {
        let log = TrafficLog(of: store)
        let entries = [
            TrafficLog.Entry(bytes: 12, isMetered: false, pack: try PackID("levels/one")),
            TrafficLog.Entry(bytes: 7, isMetered: true, pack: nil),
        ]
        for entry in entries { log.add(entry, on: "2026-01-31") }
        #expect(log.entries(on: "2026-01-31") == entries)
        #expect(log.entries(on: "2026-02-01") == [])
    }

    /// What a killed process left incomplete, and what others wrote, counts for nothing.
    @Test func otherLinesAreSkipped() throws {
        let log = TrafficLog(of: store)
        log.add(TrafficLog.Entry(bytes: 1, isMetered: false, pack: nil), on: "2026-01-31")
        let path = store.layout.traffic(of: .app).appending("2026-01-31")
        for line in [
            "12 metered", "-1 metered -", "99999999999999999999 metered -", "1 metered a//b", "\n\n", "3",
        ] {
            try AppendedFile.append(Array("\(line)\n".utf8), to: path, permissions: 0o644)
        }
        #expect(log.entries(on: "2026-01-31").map(\.bytes) == [1])
    }

    @Test func oldDaysGo() throws {
        let log = TrafficLog(of: store)
        for number in 0..<TrafficLog.keptDays + 8 {
            let month = 1 + number / 28
            let day = 1 + number % 28
            let date = "2026-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
            log.add(TrafficLog.Entry(bytes: 1, isMetered: false, pack: nil), on: date)
        }
        let days = try log.days().sorted()
        #expect(days.count == TrafficLog.keptDays)
        #expect(days.first == "2026-01-09")
    }
}
