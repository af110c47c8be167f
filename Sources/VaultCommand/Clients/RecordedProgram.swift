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
    /// The descriptor of a file with the roots of the packs.
    @Option var roots: Int32
    /// The words after `--`.
    @Argument var words: [String] = []

    /// The command that this process is to become.
    ///
    /// - Parameter roots: what ``RootList/file(of:)`` made, still open.
    static func words(for program: [String], list: String, roots: OpenFileReference) -> [String] {
        ["/proc/self/exe", "record-access", "--list=\(list)", "--roots=\(roots.file.descriptor)", "--"]
            + program
    }

    func run() async throws {
        let roots = try RootList.take(roots)
        let code = try await RecordedProgram(command: words, list: FilePath(list)).run(in: roots)
        if code != 0 { throw ExitCode(code) }
    }
}

/// The roots of packs in a file in memory, with a zero behind each: they may be too many for arguments.
enum RootList {
    /// Stays open across `exec`.
    static func file(of access: ResourceAccess) throws(VaultError) -> OpenFileReference {
        var memory = try SealedMemory(named: "the packs in access")
        for root in access.roots { try memory.append(Array("\(root.string)\0".utf8).span) }
        let file = OpenFile(takingOwnershipOf: try memory.seal().rawValue, named: "the packs in access")
        try file.keepOpenAcrossExec()
        return OpenFileReference(file)
    }

    /// Reads it, and closes it: the program does not get it.
    fileprivate static func take(_ descriptor: Int32) throws(VaultError) -> [FilePath] {
        let file = OpenFile(takingOwnershipOf: descriptor, named: "the packs in access")
        return try file.readAll(limit: .max).split(separator: 0).map {
            FilePath(String(decoding: $0, as: UTF8.self))
        }
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
