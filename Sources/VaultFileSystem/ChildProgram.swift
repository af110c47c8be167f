import CVaultSystem
import Glibc
import Synchronization
import SystemPackage
package import VaultBase

/// A program that runs as a child of this process, with its environment, and with the descriptors that were kept
/// (``OpenHandle/keepOpenAcrossExec()``). Only one at a time.
///
/// What would end this process (``TerminationSignals``) ends the program instead, as it sees fit, and this process goes on until
/// then.
package struct ChildProgram: Sendable {
    private let number: Int32
    private let name: String

    /// The number of the program that runs. Locked while the system is asked whether it has ended: after that another process may get
    /// the number.
    private static let running = Mutex<Int32?>(nil)

    /// - Throws: as ``ProcessReplacement/execute(_:setting:)``.
    package init(starting command: [String]) throws(VaultError) {
        name = command.first ?? ""
        let name = name
        number = Self.running.withLock { running in
            let started = unsafe withArguments(command) { unsafe vault_spawn(name, $0) }
            if started > 0 { running = started }
            return started
        }
        guard number > 0 else { throw .unstartable(name, Errno(rawValue: -number)) }
    }

    /// 128 and the signal's number where one ended it; nil while it runs. Asked for until it is there, and not again.
    package func exitCode() throws(VaultError) -> Int32? {
        let code = Self.running.withLock { running in
            let code = vault_exit_code(number)
            if code != -EAGAIN { running = nil }
            return code
        }
        if code == -EAGAIN { return nil }
        return try check(code, .reading, "wait for it", FilePath(name))
    }

    /// Leaves a signal that came to this process to the program; false where none runs.
    static func take(_ signal: Int32) -> Bool {
        running.withLock { running in
            guard let running else { return false }
            // Ctrl-C in a terminal reaches both: many programs take a second one for an order to end at once.
            let isOfTerminal = signal == SIGINT && (0...2).contains { tcgetpgrp($0) == getpgrp() }
            if !isOfTerminal { kill(running, signal) }
            return true
        }
    }
}
