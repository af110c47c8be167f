import AssetVault
import Foundation
import Synchronization
import SystemPackage
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

/// A process of `request-peer`, which uses a store as it is told.
final class RequestPeer: Sendable {
    /// What a process answered.
    enum Answer: Sendable, Equatable {
        case ok([String])
        case no
        case failed(VaultError.Category, String)
        /// It died before.
        case none

        var isOK: Bool { if case .ok = self { true } else { false } }
    }

    private struct State {
        var asked = 0
        var waiting: [Int: AsyncStream<Answer>.Continuation] = [:]
        var isOver = false
    }

    private let process = Process()
    private let input = Pipe()
    private let state = Mutex(State())
    private let end: AsyncStream<Void>
    var processNumber: Int32 { process.processIdentifier }

    /// - Parameter limit: the bytes that its requests may have in access.
    init(of site: String, _ layout: StoreLayout, _ vault: VaultFolder, limit: UInt64) throws {
        // Who writes to a process that died gets an error.
        signal(SIGPIPE, SIG_IGN)
        process.executableURL = URL(filePath: try Self.executable().string)
        process.arguments = [
            site, layout.permanent.removingLastComponent().string, vault.trustedRoot.string,
            vault.vaultKeys.string, "\(limit)",
        ]
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        let (end, continuation) = AsyncStream<Void>.makeStream()
        self.end = end
        process.terminationHandler = { _ in continuation.finish() }
        try process.run()
        Thread.detachNewThread { [weak self] in
            var rest: [UInt8] = []
            while true {
                let bytes = output.fileHandleForReading.availableData
                rest += bytes
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    self?.note(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Array(rest[(end + 1)...])
                }
                if bytes.isEmpty { break }
            }
            self?.noteEnd()
        }
    }

    deinit { Glibc.kill(process.processIdentifier, SIGKILL) }

    /// Tells it a command, at once, and waits for its answer when that is asked for.
    func send(_ words: [String]) -> Reply {
        let (answers, continuation) = AsyncStream<Answer>.makeStream()
        let number = state.withLock { state in
            state.asked += 1
            if state.isOver { continuation.finish() } else { state.waiting[state.asked] = continuation }
            return state.asked
        }
        let line = "\(number) \(words.joined(separator: " "))\n"
        // It may be dying: then its output ends as well.
        try? input.fileHandleForWriting.write(contentsOf: Data(line.utf8))
        return Reply(words: words, answers: answers, continuation: continuation)
    }

    struct Reply: Sendable {
        fileprivate let words: [String]
        fileprivate let answers: AsyncStream<Answer>
        fileprivate let continuation: AsyncStream<Answer>.Continuation

        var answer: Answer {
            get async {
                let (words, continuation) = (words, continuation)
                let late = Task {
                    try await Task.sleep(for: .seconds(100))
                    Issue.record("no answer to \(words) in 100 s")
                    continuation.finish()
                }
                defer { late.cancel() }
                for await answer in answers { return answer }
                return .none
            }
        }
    }

    func ask(_ words: [String]) async -> Answer { await send(words).answer }

    func ask(_ words: String...) async -> Answer { await ask(words) }

    /// Ends it at once, and returns when nothing is left of it.
    func kill() async {
        Glibc.kill(process.processIdentifier, SIGKILL)
        for await _ in end {}
    }

    /// Lets it end.
    func quit() async {
        _ = await ask("quit")
        try? input.fileHandleForWriting.close()
        for await _ in end {}
    }

    private func note(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count > 1, let number = Int(words[0]) else { return }
        switch words[1] {
        case "ok": answer(number, .ok(Array(words.dropFirst(2))))
        case "no": answer(number, .no)
        default:
            let category = words.count > 2 ? VaultError.Category(rawValue: words[2]) : nil
            answer(number, .failed(category ?? .usage, words.dropFirst(3).joined(separator: " ")))
        }
    }

    private func noteEnd() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.finish() }
    }

    private func answer(_ number: Int, _ answer: Answer) {
        guard let continuation = state.withLock({ $0.waiting.removeValue(forKey: number) }) else { return }
        continuation.yield(answer)
        continuation.finish()
    }

    /// `REQUEST_PEER`, else in a folder above that of the running tests.
    private static func executable() throws -> FilePath {
        if let named = ProcessInfo.processInfo.environment["REQUEST_PEER"] { return FilePath(named) }
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var folder = FilePath(tests)
        while folder.removeLastComponent() {
            let candidate = folder.appending("request-peer")
            if try FileSystem.status(of: candidate)?.kind == .file { return candidate }
        }
        throw VaultError(.missing, "there is no request-peer here or above", at: tests, remedy: "build it")
    }
}
