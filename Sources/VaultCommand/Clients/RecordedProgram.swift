import AssetVault
import Subprocess
import Synchronization
import SystemPackage
import VaultBase
import VaultFileSystem

/// Runs a program as a child, and records which files of the packs in access are opened meanwhile.
struct RecordedProgram: Sendable {
    let command: [String]
    let variables: [String: String]
    let record: FilePath

    /// How often events are taken from the kernel, whose queue holds 16384 of them.
    private static let interval = Duration.milliseconds(20)
    /// The file is written again so often, at most: a program that is stopped leaves what was recorded before.
    private static let saveInterval = Duration.seconds(1)

    /// Returns the program's exit code; 128 and the signal's number where one ended it. Throws where it can't be started, or was
    /// successful and its list can't be saved.
    func run(with access: ResourceAccess) async throws(VaultError) -> Int32 {
        var recorder = try await AccessRecorder(of: access)
        let ended = Ended()
        let program = Task { @concurrent in
            defer { ended.note() }
            return await outcome(of: start)
        }
        var isSaved = false
        var saved = ContinuousClock.now
        while !ended.isNoted {
            // The program must keep its access, whatever fails here: it is tried again, and reported at the end.
            if (try? recorder.update()) ?? false { isSaved = false }
            if !isSaved, ContinuousClock.now - saved > Self.saveInterval {
                isSaved = (try? save(recorder.list)) != nil
                saved = .now
            }
            try? await Task.sleep(for: Self.interval)
        }
        let status = try await program.value.get()
        do throws(VaultError) {
            _ = try recorder.update()
            try save(recorder.list)
        } catch {
            guard status != 0 else { throw error }
            Console.error(error)
            return status
        }
        if recorder.isIncomplete {
            Console.note("the system dropped events: files may be missing in \(record)")
        }
        Console.note("recorded \(recorder.paths.count.counting("file")) in \(record)")
        return status
    }

    private func save(_ list: [UInt8]) throws(VaultError) {
        try DurableFile.write(list.span, to: record, permissions: 0o644, replacing: true)
    }

    private func start() async throws(VaultError) -> Int32 {
        let program = command.first ?? ""
        let empty = try OpenFile(device: "/dev/null")
        let input =
            InheritedSecrets.isStandardInputTaken ? empty.descriptor : FileDescriptor.standardInput.rawValue
        do {
            let result = try await Subprocess.run(
                program.contains("/") ? .path(FilePath(program)) : .name(program),
                arguments: Arguments(Array(command.dropFirst())), environment: environment,
                input: .fileDescriptor(FileDescriptor(rawValue: input), closeAfterSpawningProcess: false),
                output: .currentStandardOutput, error: .currentStandardError)
            return switch result.terminationStatus {
            case .exited(let code): code
            case .signaled(let number): 128 + number
            }
        } catch {
            let error = error as? SubprocessError
            let isUnknown = error?.code == .executableNotFound
            // It is also said to be unknown where it may not be executed.
            let isThere = program.contains("/") && (try? FileSystem.exists(FilePath(program))) == true
            let cause: Errno? = isThere ? .permissionDenied : .noSuchFileOrDirectory
            throw .unstartable(program, isUnknown ? cause : error?.underlyingError)
        }
    }

    /// Without the secrets that this process got.
    private var environment: Environment {
        var changes: [Environment.Key: String?] = [:]
        for name in InheritedSecrets.variables { changes[Environment.Key(stringLiteral: name)] = .some(nil) }
        for (name, value) in variables { changes[Environment.Key(stringLiteral: name)] = value }
        return .inherit.updating(changes)
    }
}

/// Whether the program has ended.
private final class Ended: Sendable {
    private let flag = Mutex(false)

    var isNoted: Bool { flag.withLock { $0 } }
    func note() { flag.withLock { $0 = true } }
}
