import Foundation
import Subprocess
import SystemPackage
import Testing

/// External programs, found in the PATH.
enum Tool {
    /// More than any test prints; what is larger goes to a file or to /dev/null.
    static let outputLimit = 64 << 20

    /// Runs a program to its end. It reads `input` from a pipe.
    static func run(
        _ words: [String], input: [UInt8] = [], environment: [String: String?] = [:],
        workingDirectory: FilePath? = nil
    ) async throws -> CommandResult {
        if !input.isEmpty {
            // Subprocess does not outlive a program that ends before it has read all; `cat` may.
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            let feeding =
                Command.shell("file=$1; shift; cat \"$file\" | \"$@\"") + [try folder.write("input", input)]
            return try await run(
                feeding + words, environment: environment, workingDirectory: workingDirectory)
        }
        let result = try await Subprocess.run(
            executable(words[0]), arguments: Arguments(Array(words.dropFirst())),
            environment: Self.environment(environment), workingDirectory: workingDirectory,
            input: .none, output: .bytes(limit: outputLimit), error: .bytes(limit: outputLimit))
        let code: Int32 =
            switch result.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): 128 + signal
            }
        return CommandResult(exitCode: code, output: result.standardOutput, errors: result.standardError)
    }

    /// Runs a program that must succeed.
    @discardableResult
    static func run(
        _ words: String..., workingDirectory: FilePath? = nil, at location: SourceLocation = #_sourceLocation
    ) async throws -> CommandResult {
        try await run(words, workingDirectory: workingDirectory).succeeded(at: location)
    }

    /// The Python of the interop tests, with what they install from PyPI.
    static func python() throws -> String {
        try #require(
            ProcessInfo.processInfo.environment["ASSETVAULT_PYTHON"],
            "ASSETVAULT_PYTHON names no Python: run Tests/run.sh, which installs one")
    }

    /// A program by its path, or by a name without one.
    static func executable(_ word: String) -> Executable {
        word.contains("/") ? .path(FilePath(word)) : .name(word)
    }

    static func environment(_ changes: [String: String?]) -> Environment {
        .inherit.updating(
            Dictionary(
                uniqueKeysWithValues: changes.map { (Environment.Key(stringLiteral: $0.key), $0.value) }))
    }
}
