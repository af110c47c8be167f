import Subprocess
import SystemPackage
import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// An external command that prints a JWK or JWK Set, such as a key service's client or a password store.
///
/// It runs without a shell, with the environment and standard error of this process and empty standard input, once for
/// each lookup. The key ID is its last argument, absent when all keys are requested; IDs that begin with `-` are never
/// passed. If it does not have the key, it prints nothing and exits with 0. Its output is limited to one pipe: 64 KiB,
/// about 400 keys.
public struct CommandKeyProvider: KeyProvider {
    private let executable: String
    private let arguments: [String]
    private let deadline: Duration

    /// - Parameters:
    ///   - executable: a path, or a name that is looked up in `PATH`.
    ///   - deadline: the time limit for one run; the default leaves time to type a passphrase.
    public init(executable: String, arguments: [String] = [], deadline: Duration = .seconds(60)) {
        self.executable = executable
        self.arguments = arguments
        self.deadline = deadline
    }

    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        // Packs contain key IDs, and the command would parse this one as an option.
        guard !id.description.hasPrefix("-") else { return KeyRing() }
        return try await answer(to: arguments + [id.description]).keys(for: id)
    }

    public func allKeys() async throws(VaultError) -> KeyRing {
        try await answer(to: arguments)
    }

    /// Arguments may be secrets, so errors name only the executable.
    private var place: String { "command \(executable)" }

    private func answer(to arguments: [String]) async throws(VaultError) -> KeyRing {
        let pipe = try AnswerPipe(named: place)
        switch await run(arguments, output: pipe.inlet) {
        case .exited(0): break
        case .exited(let code):
            throw failure(
                "the command failed with status \(code)", remedy: "see what it wrote, and run it by hand")
        case .killed: throw failure("the command was killed", remedy: "run it by hand")
        case .notStarted:
            throw failure("the command can't be run", remedy: "check its name, its mode and PATH")
        case .late: throw failure("no answer within \(deadline)", remedy: "run the command by hand")
        }
        let text = try pipe.content()
        guard text.firstVisibleByte != nil else { return KeyRing() }
        return try KeyRing(parsingJWK: text, place: place)
    }

    private enum Outcome: Sendable {
        case exited(Int32)
        case killed, notStarted, late
    }

    private func run(_ arguments: [String], output: FileDescriptor) async -> Outcome {
        await withTaskGroup(of: Outcome.self) { group in
            group.addTask {
                do {
                    var options = PlatformOptions()
                    options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(1))]
                    let result = try await Subprocess.run(
                        executable.contains("/") ? .path(FilePath(executable)) : .name(executable),
                        arguments: Arguments(arguments), platformOptions: options, input: .none,
                        output: .fileDescriptor(output, closeAfterSpawningProcess: false),
                        error: .currentStandardError)
                    return if case .exited(let code) = result.terminationStatus { .exited(code) } else {
                        .killed
                    }
                } catch {
                    return .notStarted
                }
            }
            group.addTask {
                try? await Task.sleep(for: deadline)
                return .late
            }
            let first = await group.next() ?? .late
            group.cancelAll()
            return first
        }
    }

    private func failure(_ problem: String, remedy: String) -> VaultError {
        VaultError(.key, problem, at: place, remedy: remedy)
    }
}
