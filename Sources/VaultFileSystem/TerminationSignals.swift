internal import CVaultSystem
import SystemPackage
public import VaultErrors

/// Removes scratch when the command is terminated by a signal.
public enum TerminationSignals {
    /// Makes SIGINT, SIGTERM and SIGHUP remove every live ``ScratchFile`` and ``ScratchFolder`` and end the process
    /// with 128 + the signal's number. A signal that was ignored stays ignored (`nohup`).
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
                while unsafe vault_read(descriptor, &number, 1) != 1 {}
                ScratchEntry.removeAllAndExit(128 + Int32(number))
                return nil
            }, UnsafeMutableRawPointer(bitPattern: Int(pipe)))
        try check(-started, .changing, "start a thread", "this process")
    }
}
