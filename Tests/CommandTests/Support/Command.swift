import Foundation
import Subprocess
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

/// The built command, run as a real process.
enum Command {
    /// The binary: `ASSETVAULT_COMMAND`, else `assetvault` in a folder above that of the running tests.
    static var path: FilePath { get throws { try found.get() } }

    /// The debug build beside the running tests, which can kill itself at a step.
    static var debugPath: FilePath { get throws { try built.get() } }

    private static let found = Result {
        if let named = ProcessInfo.processInfo.environment["ASSETVAULT_COMMAND"] { return FilePath(named) }
        return try debugPath
    }

    private static let built = Result {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var folder = FilePath(tests)
        while folder.removeLastComponent() {
            let candidate = folder.appending("assetvault")
            if try FileSystem.status(of: candidate)?.kind == .file { return candidate }
        }
        throw VaultError(
            .missing, "there is no assetvault here or above", at: tests,
            remedy: "build it first, or name it in ASSETVAULT_COMMAND")
    }

    /// Runs the command without a folder of its own to its end.
    static func run(
        _ words: Words, environment: [String: String?] = [:], through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await Tool.run(wrapper + [try path.string] + words.list(), environment: environment)
    }

    /// The subcommands that the help of the command, or of a group of commands, lists.
    static func subcommands(of group: String? = nil) async throws -> [String] {
        let words = (group.map { [$0] } ?? []) + ["--help"]
        let help = try await run("\(words)").succeeded().text
        let lists = help.split(separator: "\n").drop { !$0.hasSuffix("SUBCOMMANDS:") }
        let names = lists.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
            .filter { $0.allSatisfy { $0.isLowercase || $0 == "-" } }
        return try #require(names.isEmpty ? nil : names, "\(help)")
    }

    /// A wrapper: the script's `"$@"` is what follows.
    static func shell(_ script: String) -> [String] { ["/bin/sh", "-c", script, "sh"] }

    /// Starts the command, hands it to `body`, and ends it afterwards, in every case.
    static func whileRunning<Value: Sendable>(
        _ arguments: [String], workingDirectory: FilePath? = nil, through wrapper: [String] = [],
        body: (RunningCommand) async throws -> Value
    ) async throws -> Value {
        try await whileRunning(
            program: wrapper + [try path.string] + arguments, workingDirectory: workingDirectory, body: body)
    }

    /// The same with any program.
    static func whileRunning<Value: Sendable>(
        program words: [String], workingDirectory: FilePath? = nil,
        body: (RunningCommand) async throws -> Value
    ) async throws -> Value {
        let result = try await Subprocess.run(
            Tool.executable(words[0]), arguments: Arguments(Array(words.dropFirst())),
            environment: Tool.environment([:]), workingDirectory: workingDirectory, input: .none,
            output: .sequence, error: .bytes(limit: Tool.outputLimit)
        ) { execution in
            let running = RunningCommand(
                processID: execution.processIdentifier.value, lines: execution.standardOutput.strings())
            defer { running.send(SIGTERM) }
            return try await body(running)
        }
        return result.closureResult
    }
}

/// A command that was started and not waited for.
struct RunningCommand {
    let processID: pid_t
    fileprivate let lines: SubprocessOutputSequence.StringSequence<UTF8>

    /// The first line that it prints, without its end; ask once.
    func firstLine() async throws -> String {
        var lines = lines.makeAsyncIterator()
        let line = try #require(try await lines.next(), "it printed nothing")
        return line.trimmingCharacters(in: .newlines)
    }

    func send(_ signal: Int32) { kill(processID, signal) }
}
