import ArgumentParser
import AssetVault
import SystemPackage
import VaultBase
import VaultFileSystem

/// What `access --record` becomes: it runs the program as a child, and records which files of the packs in access are opened meanwhile.
/// It has the access, which the program inherits, and neither keys nor the environment that had them.
struct RecordAccess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record-access", abstract: "What 'access --record' becomes.", shouldDisplay: false)

    @Option var list: String
    @Option(parsing: .singleValue) var root: [String] = []
    /// The words after `--`.
    @Argument var words: [String] = []

    /// The command that this process is to become.
    static func words(for program: [String], in access: ResourceAccess, list: String) -> [String] {
        ["/proc/self/exe", "record-access", "--list=\(list)"] + access.roots.map { "--root=\($0)" } + ["--"]
            + program
    }

    func run() async throws {
        let code = try await RecordedProgram(command: words, list: FilePath(list)).run(
            in: root.map { FilePath($0) })
        if code != 0 { throw ExitCode(code) }
    }
}

private struct RecordedProgram {
    let command: [String]
    let list: FilePath

    /// How often events are taken from the kernel, whose queue holds 16384 of them.
    private static let interval = Duration.milliseconds(20)
    /// The file is written again so often, at most: a program that is stopped leaves what was recorded before.
    private static let saveInterval = Duration.seconds(1)

    /// Returns the program's exit code; 128 and the signal's number where one ended it. Throws where it can't be started, or was
    /// successful and its list can't be saved.
    func run(in roots: [FilePath]) async throws(VaultError) -> Int32 {
        var recorder = try AccessRecorder(of: roots)
        let program = try ChildProgram(starting: command)
        var isSaved = false
        var saved = ContinuousClock.now
        var ended = try program.exitCode()
        while ended == nil {
            // The program goes on, whatever fails here: it is tried again, and reported at the end.
            if (try? recorder.update()) ?? false { isSaved = false }
            if !isSaved, ContinuousClock.now - saved > Self.saveInterval {
                isSaved = (try? save(recorder.list)) != nil
                saved = .now
            }
            try? await Task.sleep(for: Self.interval)
            ended = try program.exitCode()
        }
        let status = ended ?? 0
        do throws(VaultError) {
            _ = try recorder.update()
            try save(recorder.list)
        } catch {
            guard status != 0 else { throw error }
            Console.error(error)
            return status
        }
        if recorder.isIncomplete {
            Console.note("the system dropped events: files may be missing in \(list)")
        }
        Console.note("recorded \(recorder.paths.count.counting("file")) in \(list)")
        return status
    }

    private func save(_ paths: [UInt8]) throws(VaultError) {
        try DurableFile.write(paths.span, to: list, permissions: 0o644, replacing: true)
    }
}
