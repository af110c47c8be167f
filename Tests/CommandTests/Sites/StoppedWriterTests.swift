import Foundation
import Sampling
import SystemPackage
import Testing
import VaultFileSystem

/// One process stands stopped in the middle of its work, with the locks that it holds: others that only look need none of them.
@Suite(.timeLimit(.minutes(5))) struct StoppedWriterTests {
    let world: World
    private let firstTree: Tree

    /// A store with the first of two versions.
    init() async throws {
        world = try await World(level: "first")
        try await world.fetch().succeeded()
        firstTree = try await world.tree(of: "level")
        try await world.publish(level: "second")
    }

    /// A command, and the folder in which it stands stopped while it replaces a file.
    enum Writer: CaseIterable {
        case refresh, fetch, downloader

        var command: String { self == .downloader ? "downloader" : "fetch" }
        var folder: String {
            switch self {
            case .refresh: "permanent/@trust"
            case .fetch: "permanent/level"
            case .downloader: "shared/@state/level"
            }
        }
        var lock: String {
            switch self {
            case .refresh: "permanent/@trust/lock"
            case .fetch: "permanent/@lock"
            case .downloader: "shared/@lock"
            }
        }
    }

    @Test(arguments: Writer.allCases) func statusAndUsageAnswer(beside writer: Writer) async throws {
        var stops = 0
        for number in [1] + Sampling.numbers(2...8, each: 3, for: "StoppedWriterTests \(writer)") {
            let store = world["store-\(number)"]
            try await world.copy("store", to: store)
            let isStopped = try await whileStopped(writer, at: number, in: store) {
                stops += 1
                let lock = try OpenFile(updating: FilePath("\(store)/\(writer.lock)"))
                #expect(try !lock.tryLock(exclusive: true), "it stands in the middle of a change")
                let status = try #require(try await world.status(of: store)["level"])
                // A fetch also notes in @trust, after the packs are live, that this state can be read.
                #expect(status.version == 1 || status.version == 2 && writer != .downloader, "\(status)")
                let live = status.version == 1 ? firstTree : try Tree(world["level"])
                #expect(try await world.tree(of: "level", in: store) == live)
                #expect(status.state != "failed" && status.state != "absent", "\(status)")
                let usage = try await world.run("usage --store \(store) --json").succeeded().json()
                let packs = try #require(usage["packs"]?.elements)
                #expect(packs.map { $0["id"]?.text } == ["level"])
                #expect(packs.map { $0["form"]?.text } == ["opened"])
            }
            try await world.fetch(into: store).succeeded()
            #expect(try await world.status(of: store)["level"]?.version == 2)
            #expect(try await world.tree(of: "level", in: store) == Tree(world["level"]))
            if !isStopped { break }
        }
        #expect(stops > 0)
    }

    /// Runs the body while a command stands stopped in its `number`th renaming in a folder, and kills it. False where it renames
    /// less there.
    private func whileStopped(
        _ writer: Writer, at number: Int, in store: String, _ body: () async throws -> Void
    ) async throws -> Bool {
        let (log, pid, end) = (world["log"], world["pid"], world["end"])
        for path in [log, pid, end] { try? FileManager.default.removeItem(atPath: path) }
        let wrapper =
            Command.shell("\"$@\"; echo > '\(end)'")
            + Sandbox.injecting("signal=STOP", into: "renameat,renameat2", number: number, log: log)
            + ["-P", "\(store)/\(writer.folder)"]
            + Command.shell("echo $$ > '\(pid)'; exec \"$@\"")
        let rest = writer.command == "fetch" ? world.keys : ["--request", "update"]
        let words: Words = "\(writer.command) $SITE --store \(store) $TRUST \(rest)"
        return try await world.whileRunning(words, through: wrapper) { _ in
            while (try? String(contentsOfFile: log, encoding: .utf8))?.contains("stopped by SIGSTOP") != true
            {
                if FileManager.default.fileExists(atPath: end) { return false }
                try await Task.sleep(for: .milliseconds(5))
            }
            let text = try String(contentsOfFile: pid, encoding: .utf8)
            let process = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
            defer { kill(process, SIGKILL) }
            try await body()
            return true
        }
    }
}
