import Foundation
import SealedPack
import SystemPackage
import Testing
import UpdateFramework
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
        for line in [
            "12 metered", "-1 metered -", "99999999999999999999 metered -", "1 metered a//b", "\n\n", "3",
        ] {
            try log.append(Array("\(line)\n".utf8), on: "2026-01-31")
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
        let days = try names(in: store.layout.traffic(of: .app)).sorted()
        #expect(days.count == TrafficLog.keptDays)
        #expect(days.first == "2026-01-09")
    }

    /// What others put into shared storage is neither written to, waited for nor removed, and does not count.
    @Test func whatOthersPutThere() throws {
        let shared = StoreAccess(layout: store.layout, role: .downloader)
        let log = TrafficLog(of: shared)
        let entry = TrafficLog.Entry(bytes: 1, isMetered: false, pack: nil)
        log.add(entry)
        #expect(log.entries(on: TrafficLog.today) == [entry])
        let days = try Folder(opening: shared.layout.traffic(of: .downloader))
        try days.unlink(TrafficLog.today)
        // A pipe that nobody reads.
        #expect(unsafe mkfifo("\(days.path)/\(TrafficLog.today)", 0o600) == 0)
        log.add(entry)
        #expect(log.entries(on: TrafficLog.today) == [])
        log.add(entry, on: "9900-01-01")
        #expect(try log.days() == [TrafficLog.today])
        // Another folder with days of its own.
        let other = folder.path.appending("other")
        try FileSystem.createFolders(other, permissions: 0o755)
        for day in 1...TrafficLog.keptDays {
            _ = try OpenFile(creating: other.appending("\(1000 + day)-01-01"), permissions: 0o644)
        }
        try FileSystem.removeTree(days.path)
        try Folder(opening: store.layout.shared).symlink("@traffic", target: other)
        log.add(entry)
        #expect(try Folder(opening: other).names().count == TrafficLog.keptDays)
    }
}

extension TrafficLog {
    /// The entries of one day.
    func entries(on day: String) -> [Entry] {
        var reading = TrafficReading(self)
        var found: [Entry] = []
        reading.forEachEntry(on: day) { found.append($0) }
        return found
    }
}
