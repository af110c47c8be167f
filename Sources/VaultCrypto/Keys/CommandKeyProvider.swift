import Subprocess
import SystemPackage
public import VaultBase
import VaultFileSystem

/// An external command that prints a JWK or JWK Set, such as a key service's client or a password store.
///
/// It runs without a shell, with the environment and standard error of this process and empty standard input, once for
/// each lookup and one at a time; a key that it prints beside the requested one saves the next lookup of that key. The key ID is its
/// last argument, absent when all keys are requested; IDs that begin with `-` are never passed. If it does not have the key, it
/// prints nothing and exits with 0. Its output is limited to one pipe: 64 KiB, about 400 keys.
public struct CommandKeyProvider: KeyProvider {
    private let executable: String
    private let arguments: [String]
    private let deadline: Duration
    private let answers = KeyAnswers()
    private let passphrase: PassphraseSource?

    /// - Parameters:
    ///   - executable: a path, or a name that is looked up in `PATH`.
    ///   - deadline: the time limit for one run; the default leaves time to type a passphrase.
    ///   - passphrase: of keys that the command prints encrypted.
    public init(
        executable: String, arguments: [String] = [], deadline: Duration = .seconds(60),
        passphrase: PassphraseSource? = nil
    ) {
        self.passphrase = passphrase
        self.executable = executable
        self.arguments = arguments
        self.deadline = deadline
    }

    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        // Packs contain key IDs, and the command would parse this one as an option.
        guard !id.description.hasPrefix("-") else { return KeyRing() }
        return try await answers.keys(for: id) { () throws(VaultError) in
            try await answer(to: arguments + [id.description])
        }
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
        return try KeyRing(parsingJWK: text, place: place, passphrase: passphrase)
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
                        arguments: Arguments(arguments), environment: Self.environment,
                        platformOptions: options, input: .none,
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

    /// Without other sources' secrets.
    private static var environment: Environment {
        .inherit.updating(
            Dictionary(
                uniqueKeysWithValues: InheritedSecrets.variables.map {
                    (Environment.Key(stringLiteral: $0), nil)
                }))
    }

    private func failure(_ problem: String, remedy: String) -> VaultError {
        VaultError(.key, problem, at: place, remedy: remedy)
    }
}

/// A pipe that buffers a command's whole output in the kernel, so that no secret is on the ordinary heap. The pipe does
/// not block, so writing more than fits fails in the command.
struct AnswerPipe: ~Copyable, Sendable {
    private let outlet: OpenFile
    private let writable: OpenFile

    init(named place: String) throws(VaultError) {
        do throws(Errno) {
            let ends = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
            outlet = OpenFile(takingOwnershipOf: ends.readEnd.rawValue, named: FilePath(place))
            writable = OpenFile(takingOwnershipOf: ends.writeEnd.rawValue, named: FilePath(place))
        } catch {
            throw VaultError(
                .io, "can't create a pipe: \(error)", at: place, remedy: "close some files and try again")
        }
    }

    /// The write end, for the command's standard output.
    var inlet: FileDescriptor { FileDescriptor(rawValue: writable.descriptor) }

    /// The bytes written so far.
    ///
    /// A process that the command left behind may keep the pipe open, so a zero byte, which JSON never contains, marks
    /// the end.
    func content() throws(VaultError) -> SecretBytes {
        let place = outlet.path.string
        guard (try? inlet.writeAll([0])) != nil else {
            throw VaultError(
                .key, "the command wrote more than a pipe holds", at: place,
                remedy: "let it print only the key asked for")
        }
        // In parts, which the secure heap has room for.
        var text = SecretBytes(copying: Span())
        while text.count <= KeyRing.byteLimit {
            let next = try SecretBytes(capacity: 4_096) { (buffer) throws(VaultError) in
                for count in 0..<buffer.count {
                    var byte: InlineArray<1, UInt8> = [0]
                    var span = byte.mutableSpan
                    guard try outlet.readNext(into: &span) == 1, byte[0] != 0 else { return count }
                    buffer[count] = byte[0]
                }
                return buffer.count
            }
            text = try text.appending(next)
            if next.count < 4_096 { return text }
        }
        throw .tooLarge(place)
    }
}
