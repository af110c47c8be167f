import FaultServer
import Foundation
import Sampling
import Synchronization
import TestFiles
import Testing
import VaultFileSystem

@testable import AssetVault

/// The downloader, which has no key.
@Suite(.timeLimit(.minutes(5))) struct DownloaderTests {
    let one = PackID.one
    let extras = PackID.extras

    @Test func bringsPacksToSharedStorage() async throws {
        let world = try await World.withPacks()
        let report = try await world.downloader().run(.install)
        #expect(report.packs.map(\.id) == [one] && report.firstError == nil)
        let client = try world.client()
        #expect(try await client.store.status(of: one).state == .toBeTransferred)
        let sent = try await world.server.packBytesAtRest
        _ = try await client.fetch()
        #expect(try await world.server.packBytesAtRest == sent, "nothing is fetched twice")
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        #expect(try await world.downloader().run(.periodic).packs.isEmpty)
    }

    /// A failed essential pack is fetched again after all others, in the same run.
    @Test func aFailedEssentialPackIsRetried() async throws {
        let world = try await World.withPacks(["levels/one": "essential", "extras": "prefetch"])
        world.answer { $0.path.hasSuffix("one.avpack") && $0.earlier < 1 ? .status(404) : .file }
        let report = try await world.downloader { $0.packsAtOnce = 1 }.run(.install)
        #expect(report.packs.map(\.id) == [extras, one] && report.firstError == nil)
        #expect(world.server.packs.first?.request.path.hasSuffix("one.avpack") == true)
        #expect(try await world.client().store.status(of: one).state == .toBeTransferred)
    }

    @Test func aFailureIsRecorded() async throws {
        let world = try await World.withPacks(["extras": "prefetch"])
        world.answer { $0.path.hasSuffix("extras.avpack") ? .status(404) : .file }
        let report = try await world.downloader().run(.update)
        #expect(report.firstError?.category == .notHosted)
        // The category outlives the process.
        guard case .failed(.notHosted, _) = try await world.client().store.status(of: extras).state else {
            Issue.record("the failure is not recorded")
            return
        }
        #expect(try await world.client().store.status(of: one).state == .toBeTransferred)
        // Metadata that can't be had is another matter.
        let downloader = try world.downloader {
            $0.site = try SiteLocation("http://127.0.0.1:1/")
            $0.retries.attempts = 1
        }
        #expect(await category { _ = try await downloader.run(.periodic) } == .unreachable)
    }

    @Test func allowancesLimitTheInitialSet() async throws {
        let world = try await World.withPacks(["levels/one": "essential", "extras": "prefetch"])
        var small = try world.configuration(keys: false)
        small.policy.essentialDownloadAllowance = 100_000
        let report = try await PackDownloader(small).run(.install)
        #expect(report.packs.map(\.id) == [extras])
        #expect(report.refusals.count == 1 && report.firstError?.place == "levels/one")
        #expect(report.firstError?.category == .limit)
        // Only the initial set is limited.
        #expect(try await PackDownloader(small).run(.periodic).packs.map(\.id) == [one])
    }

    /// Of metadata counts what was downloaded of them: neither the root that came with the app, nor what a file system takes.
    @Test func metadataCountByTheirLengths() async throws {
        let world = try await World.withPacks(["levels/one": "essential", "extras": "onDemand"])
        _ = try await world.downloader().run(.install)
        try await world.server.rest()
        let metadata = world.server.exchanges.filter { !$0.request.isForPack && $0.status == 200 }
            .reduce(0) { $0 + $1.bodyBytes }
        let length = try await world.client().pack(withID: one).length
        for (missing, expected) in [(UInt64(0), VaultError.Category?.none), (1, .limit)] {
            let limited = try world.downloader {
                $0.store = StoreLayout(root: world.layout.shared.appending("limited-\(missing)"))
                $0.policy.essentialDownloadAllowance = UInt64(metadata) + length - missing
            }
            let report = try await limited.run(.install)
            #expect(report.firstError?.category == expected, "\(report)")
        }
    }

    /// A stopped download is resumed by the next run; one that nobody will resume is removed by it.
    @Test(arguments: [true, false]) func whatAStoppedRunLeft(isListed: Bool) async throws {
        let world = try await World.withPacks(["levels/one": "essential", "extras": "prefetch"])
        world.answer { $0.path.hasSuffix("one.avpack") ? .cut(after: 300_000) : .file }
        let limited = try world.downloader { $0.retries.attempts = 1 }
        #expect(try await limited.run(.install).firstError?.category == .unavailable)
        func arriving() throws -> [String] {
            try names(in: world.layout.ephemeral).filter { $0.hasSuffix(".part") }
        }
        #expect(try arriving().count == 1)
        if isListed {
            try await world.publish(["noise": noise(100_000, seed: 8)])
        } else {
            try await world.withdraw(one)
        }
        world.answer { _ in .file }
        _ = try await world.downloader().run(.periodic)
        #expect(try arriving() == [])
    }

    /// No process is that small: a mistaken unit is refused, before anything is asked for.
    @Test func tooLittleMemory() async throws {
        let world = try await World.withPacks()
        for memory in [0, 1 << 20, DownloaderBudget.leastMemory - 1] {
            let budget = DownloaderBudget(memory: memory)
            #expect(
                await category { _ = try await world.downloader().run(.install, within: budget) } == .usage)
        }
        #expect(world.server.exchanges.isEmpty)
        let least = DownloaderBudget(memory: DownloaderBudget.leastMemory)
        #expect(least.packsAtOnce(upTo: 4) == 1)
        #expect(try await world.downloader().run(.install, within: least).firstError == nil)
    }

    /// The bytes of a failed essential pack still count: the same request allows it again.
    @Test func aFailedEssentialPackIsAllowedAgain() async throws {
        let world = try await World.withPacks(["levels/one": "essential", "extras": "prefetch"])
        world.answer { $0.path.hasSuffix("one.avpack") ? .status(404) : .file }
        var limited = try world.configuration(keys: false)
        limited.policy.downloadAllowance = 400_000
        #expect(try await PackDownloader(limited).run(.install).firstError?.category == .notHosted)
        world.answer { _ in .file }
        let report = try await PackDownloader(limited).run(.install)
        #expect(report.firstError == nil && report.packs.map(\.id) == [one])
        #expect(try await world.client().store.status(of: one).state == .toBeTransferred)
    }

    /// One progress bar for all essential packs: total from the start, never decreasing, complete at the end.
    @Test func progressOfAnInstallation() async throws {
        let world = try await World.withPacks(["levels/one": "essential", "extras": "essential"])
        try await world.publish(["noise": noise(200_000, seed: 9)], as: "later")
        world.answer { _ in .changed { $0.pace = (50_000, .milliseconds(1)) } }
        let shown = Mutex(Shown())
        _ = try await world.downloader().run(.install) { update in shown.withLock { $0.note(update) } }
        let client = try world.client()
        let sizes = [try await client.pack(withID: one).length, try await client.pack(withID: extras).length]
        shown.withLock { shown in
            #expect(shown.progress.total == sizes[0] + sizes[1])
            #expect(shown.progress.bytes == shown.progress.total)
            let fractions = shown.fractions
            #expect(fractions.first == 0 && fractions.last == 1 && fractions == fractions.sorted())
            #expect(shown.sums[one] == sizes[0] && shown.sums[extras] == sizes[1] && shown.sums.count == 3)
        }
    }

    /// Bytes of an earlier run were not written by this one.
    @Test func progressOfAResumedDownload() async throws {
        let world = try await World.withPacks()
        world.answer { request in
            guard request.earlier == 1 else { return request.earlier == 0 ? .file : .status(404) }
            // Slowly enough that most of it is read when the connection ends.
            return .changed {
                $0.body = Array($0.body.prefix(600_000))
                $0.pace = (60_000, .milliseconds(20))
            }
        }
        #expect(try await world.downloader().run(.install).firstError?.category == .notHosted)
        world.answer { _ in .file }
        let shown = Mutex(Shown())
        _ = try await world.downloader().run(.install) { update in shown.withLock { $0.note(update) } }
        let size = try await world.client().pack(withID: one).length
        shown.withLock { shown in
            #expect(shown.first[one].map { $0 > 50_000 && $0 < size } == true)
            #expect(shown.sums[one] == size)
        }
    }

    /// What a bar shows, and what was there at first with all that was written since, pack by pack.
    private struct Shown {
        var progress = LoadingProgress(of: [.essential])
        var fractions: [Double] = []
        var first: [PackID: UInt64] = [:]
        var sums: [PackID: UInt64] = [:]

        mutating func note(_ update: StatusUpdate) {
            fractions.append(progress.note(update).fraction)
            guard case .progress(let id, let written, let bytes, _) = update else { return }
            first[id] = first[id] ?? bytes
            sums[id] = (sums[id] ?? bytes) + written
        }
    }

    /// Redirects may lead only to allowed hosts.
    @Test func allowedHostsApplyToRedirects() async throws {
        let world = try await World.withPacks()
        let elsewhere = world.server.url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
        world.answer { request in
            request.header("Host")?.hasPrefix("localhost") == true
                ? .file
                : .changed {
                    $0 = .init(status: 302, body: [])
                    $0.headers["Location"] = elsewhere + request.path
                }
        }
        var configuration = try world.configuration(keys: false)
        try await PackDownloader(configuration).run(.install).firstError.map { throw $0 }
        try await world.client().remove(one)
        configuration.policy.allowedHosts = try AllowedHosts(["127.0.0.1"])
        configuration.keys = nil
        let strict = try VaultClient(configuration)
        #expect(await category { _ = try await strict.fetch(.only([one])) } == .untrusted)
    }

    @Test func memoryBudget() {
        #expect(DownloaderBudget(memory: 1).packsAtOnce(upTo: 4) == 1)
        #expect(DownloaderBudget(memory: 32 << 20).packsAtOnce(upTo: 4) == 1)
        #expect(DownloaderBudget(memory: 34 << 20).packsAtOnce(upTo: 4) == 3)
        #expect(DownloaderBudget(memory: 1 << 40).packsAtOnce(upTo: 4) == 4)
        #expect(DownloaderBudget().packsAtOnce(upTo: 4) == 4)
    }

    /// Completed work is reported, and unfinished packs are distinguished from failed ones.
    @Test func reportsWhenTheTimeIsUp() async throws {
        let (world, downloader, report) = try await withEnoughTime { time in
            let world = try await World.withPacks(["levels/one": "essential", "extras": "prefetch"])
            world.answer { $0.path.hasSuffix("extras.avpack") ? .steps([.hang]) : .file }
            let downloader = try world.downloader()
            let report = try await downloader.run(.install, within: .init(time: time))
            let isAsked = world.server.packs.contains { $0.request.path.hasSuffix("extras.avpack") }
            return isAsked ? (world, downloader, report) : nil
        }
        #expect(report.packs.map(\.id) == [one, extras])
        #expect(try report.packs.first?.result.get() == .toBeTransferred)
        #expect(report.firstError?.category == .busy)
        #expect(report.firstError?.problem.contains("1 of 2 packs") == true)
        #expect(try await world.client().store.status(of: extras).state.name == "downloading")
        world.answer { _ in .file }
        #expect(try await downloader.run(.install).packs.map(\.id) == [extras])
    }

    /// A run that has a third of its pack, from a host that is slow after the first answer.
    private func runUnderWay(
        in world: World, pause: Duration
    ) async throws -> (Task<DownloaderReport, any Error>, Updates) {
        world.answer { $0.earlier == 0 ? .file : .changed { $0.pace = (20_000, pause) } }
        let (downloader, updates) = (try world.downloader(), Updates())
        let run = Task { try await downloader.run(.install) { updates.add($0) } }
        while updates.bytes < World.one.count / 3 { try await Task.sleep(for: .milliseconds(5)) }
        return (run, updates)
    }

    /// The app takes over a running download with all its bytes.
    @Test func theAppTakesOverADownload() async throws {
        let world = try await World.withPacks()
        let (run, updates) = try await runUnderWay(in: world, pause: .milliseconds(400))
        world.answer { _ in .file }
        let client = try world.client()
        let before = world.server.packs.count
        try await client.ensureLocalAvailability(of: one)
        #expect(try await run.value.firstError == nil)
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        let sent = world.server.packs.dropFirst(before).reduce(0) { $0 + $1.bodyBytes }
        // All but what the downloader had, and the piece that was arriving.
        let rest = World.one.count - updates.bytes + World.longestPiece
        #expect(sent > 0 && sent <= rest, "\(sent) of \(rest)")
    }

    /// A pack that the app removes is not downloaded further.
    @Test func aPackRemovedDuringTheDownload() async throws {
        let world = try await World.withPacks()
        let (run, _) = try await runUnderWay(in: world, pause: .milliseconds(20))
        try await world.client().remove(one)
        #expect(try await run.value.firstError == nil)
        #expect(try await run.value.packs.map(\.id) == [one])
        #expect(try await world.client().store.status(of: one).state == .absent)
    }

    /// Partial downloads of a pack that is no longer listed are removed.
    @Test(arguments: [false, true]) func aWithdrawnPack(byTheApp: Bool) async throws {
        let world = try await World.withPacks()
        let (run, _) = try await runUnderWay(in: world, pause: .milliseconds(400))
        run.cancel()
        #expect(await category { _ = try await run.value } == .cancelled)
        let ephemeral = world.layout.ephemeral
        #expect(try Folder(opening: ephemeral).names().count == 1)
        try await world.withdraw(one)
        if byTheApp {
            _ = try await world.client().fetch()
        } else {
            _ = try await world.downloader().run(.periodic)
        }
        #expect(try Folder(opening: ephemeral).names().isEmpty)
        #expect(try await world.client().store.status(of: one).state == .absent)
    }
}
