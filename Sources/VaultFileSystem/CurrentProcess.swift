import CVaultSystem
import Glibc
import Synchronization
public import SystemPackage
public import VaultBase

/// The environment variables of this process.
public enum ProcessEnvironment {
    /// Passes the bytes of a variable to `body` without a copy, as it may be a secret. Nil when it is not set.
    public static func withValue<R: ~Copyable>(of name: String, _ body: (Span<UInt8>) -> R) -> R? {
        guard let start = unsafe getenv(name) else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: strlen(start))
        return unsafe body(bytes.bindMemory(to: UInt8.self).span)
    }

    /// A variable that is not secret; nil where it is not set, or empty.
    public static func text(of name: String) -> String? {
        let text = withValue(of: name) { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        return text?.isEmpty == false ? text : nil
    }

    /// The number of this process.
    public static var processNumber: Int32 { getpid() }

    /// The number of processors that are there for this process, at least 1.
    public static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The name of its program, without folders; empty where it has none.
    public static var programName: String {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }
}

extension FilePath {
    /// The file of this program.
    public static var ofThisProgram: FilePath {
        get throws(VaultError) { try Folder(opening: "/proc/self").readLink("exe") ?? "assetvault" }
    }

    /// From the root; a relative path begins at the current folder.
    public var absolute: FilePath {
        get throws(VaultError) {
            let here = try Folder(opening: "/proc/self").readLink("cwd") ?? "/"
            return here.pushing(self).lexicallyNormalized()
        }
    }

    /// The absolute path without links; the path itself where nothing is there.
    public var resolved: FilePath {
        guard let resolved = unsafe realpath(characters, nil) else { return self }
        defer { unsafe free(resolved) }
        return unsafe FilePath(platformString: resolved)
    }

    /// This path, relative to the current folder, as seen from `folder`; absolute where the two share no root.
    public func relative(to folder: FilePath) throws(VaultError) -> FilePath {
        let (target, base) = (try absolute, try folder.absolute)
        var ups = 0
        var shared = base
        while !target.starts(with: shared) {
            shared.removeLastComponent()
            ups += 1
        }
        var path = FilePath(String(repeating: "../", count: ups))
        path.append(target.components.dropFirst(shared.components.count))
        return path
    }
}

/// Becomes another program, which has this process's number.
public enum ProcessReplacement {
    /// Does not return. Descriptors are closed, but those that were kept (``OpenHandle/keepOpenAcrossExec()``).
    ///
    /// - Parameters:
    ///   - command: the program, looked for in `PATH`, and its arguments.
    ///   - variables: added to the environment.
    /// - Throws: `.usage` for an empty command, `.missing` for an unknown program, `.unwritable` for one that can't be started.
    public static func execute(
        _ command: [String], setting variables: [String: String]
    ) throws(VaultError) -> Never {
        guard let program = command.first, !program.isEmpty else {
            throw VaultError(.usage, "no command is named", at: "command", remedy: "write it after --")
        }
        try InheritedSecrets.withhold()
        for (name, value) in variables { _ = unsafe setenv(name, value, 1) }
        let code = unsafe withArguments(command) { unsafe vault_execute(program, $0) }
        throw .unstartable(program, Errno(rawValue: -code))
    }
}

func withArguments(
    _ command: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
) -> Int32 {
    var arguments = unsafe command.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    let code = unsafe body(arguments)
    for index in unsafe arguments.indices { unsafe free(arguments[index]) }
    return code
}

extension VaultError {
    /// - Parameter cause: nil for an unknown one.
    package static func unstartable(_ program: String, _ cause: Errno?) -> VaultError {
        VaultError(
            cause == .noSuchFileOrDirectory ? .missing : .unwritable,
            "it can't be started" + (cause.map { " (\($0))" } ?? ""), at: program,
            remedy: "check its name and PATH")
    }
}

/// Variables and open descriptors that this process got with secrets in them. No program that it starts or becomes gets them.
///
/// Sources of keys and passphrases note them here, so that none is forgotten where a program is started.
public enum InheritedSecrets {
    private static let noted = Mutex<(variables: Set<String>, descriptors: Set<Int32>)>(([], []))

    public static func note(variable: String) { noted.withLock { _ = $0.variables.insert(variable) } }

    public static func note(descriptor: Int32) { noted.withLock { _ = $0.descriptors.insert(descriptor) } }

    /// The names of the variables.
    public static var variables: Set<String> { noted.withLock { $0.variables } }

    /// Unsets the variables, and has `exec` close the descriptors. Standard input, which programs expect to be open, becomes
    /// empty.
    fileprivate static func withhold() throws(VaultError) {
        for name in variables { _ = unsafe unsetenv(name) }
        for number in noted.withLock({ $0.descriptors }) {
            if number == STDIN_FILENO {
                let empty = try OpenFile(device: "/dev/null")
                try check(vault_replace(empty.descriptor, number), .reading, "close it", "standard input")
            } else {
                try check(vault_close_on_exec(number), .reading, "close it", FilePath("descriptor \(number)"))
            }
        }
    }
}

/// Settings of this process. For programs only: a library must not change its process.
public enum ProcessSettings {
    /// Keeps secrets in memory out of core dumps and debuggers: makes the process undumpable (`PR_SET_DUMPABLE`) and its core
    /// files empty (`RLIMIT_CORE`). Child programs are dumpable again, but inherit the limit.
    public static func hideMemory() throws(VaultError) {
        try check(vault_undumpable(), .changing, "forbid core dumps", "this process")
        try check(vault_no_core(), .changing, "forbid core files", "this process")
    }

    /// Throws where this process may open hardly any file: without those that it needs itself, the Swift runtime ends the process by
    /// SIGILL, and nobody would know why.
    public static func requireOpenFiles() throws(VaultError) {
        var opened: [OpenFileReference] = []
        for _ in 0..<neededFiles { opened.append(OpenFileReference(try OpenFile(device: "/dev/null"))) }
        withExtendedLifetime(opened) {}
    }

    /// The pipe of ``TerminationSignals``, and what libdispatch waits for events with.
    private static let neededFiles = 6

    /// Makes all threads allocate from one arena, instead of one each (glibc): saves memory in a process that mostly
    /// waits.
    public static func useOneArena() { vault_use_one_arena() }
}

/// The permission bits that this process withholds from new files and folders (`umask`).
public struct Umask: Sendable, Equatable {
    private let bits: UInt16

    /// The current umask, from the system's status of the process: calling `umask` would change it for all threads. If
    /// that can't be read, only the owner gets permissions.
    public static var current: Umask {
        let found = vault_umask()
        return Umask(bits: found >= 0 ? UInt16(truncatingIfNeeded: found) : 0o077)
    }

    /// `permissions` without the bits of the umask.
    public func applied(to permissions: UInt16) -> UInt16 { permissions & ~bits }
}

/// Removes scratch when the command is terminated by a signal.
public enum TerminationSignals {
    /// Makes SIGINT, SIGTERM and SIGHUP remove every live ``ScratchFile`` and ``ScratchFolder`` and end the process
    /// with 128 + the signal's number. A signal that was ignored stays ignored (`nohup`). While a ``ChildProgram`` runs, it gets them
    /// instead.
    ///
    /// For the command, once, at its start: a library must not change its process.
    public static func cleanUpAndExit() throws(VaultError) {
        let signals = [SIGINT, SIGTERM, SIGHUP]
        let pipe = try check(
            unsafe vault_catch_signals(signals, Int32(signals.count)), .changing, "catch signals",
            "this process")
        var thread = pthread_t()
        let started = unsafe pthread_create(
            &thread, nil,
            { pipe in
                var number: UInt8 = 0
                let descriptor = Int32(Int(bitPattern: pipe))
                repeat {
                    while unsafe vault_read(descriptor, &number, 1) != 1 {}
                } while ChildProgram.take(Int32(number))
                ScratchEntry.removeAllAndExit(128 + Int32(number))
                return nil
            }, UnsafeMutableRawPointer(bitPattern: Int(pipe)))
        try check(-started, .changing, "start a thread", "this process")
    }
}

/// The time of day, used for people and expiry dates only.
public enum WallClock {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    public static var secondsSince1970: Int64 { vault_now() }

    /// A moment in the time zone of this machine: month from 1, day, hour, minute.
    public static func localFields(
        atSecondsSince1970 seconds: Int64
    ) -> (month: Int, day: Int, hour: Int, minute: Int) {
        var moment = time_t(seconds)
        var fields = unsafe tm()
        _ = unsafe localtime_r(&moment, &fields)
        return unsafe (Int(fields.tm_mon) + 1, Int(fields.tm_mday), Int(fields.tm_hour), Int(fields.tm_min))
    }
}
