import Foundation
import Sampling
import Testing

/// A command that gets a signal while it is stopped in a system call.
enum StoppedCommand {
    /// Runs the command until it stands in the `number`th call of one system call and `isThere`, then sends it a signal.
    /// Expects it to end by itself, with the code that a shell gives to that signal.
    static func expectEnd(
        of words: Words, by signal: Int32, in call: String, number: Int = 1,
        notesIn folder: some Workplace, when isThere: () throws -> Bool
    ) async throws {
        let (code, pid) = (folder["code"], folder["pid"])
        // A shell lets what it starts in the background ignore SIGINT.
        let wrapper =
            Sandbox.injecting("delay_enter=600000000", into: call, number: number)
            + Command.shell("\"$@\" & echo $! > '\(pid)'; wait $!; echo $? > '\(code)'")
            + ["env", "--default-signal=INT"]
        try await folder.whileRunning(words, through: wrapper) { strace in
            try await wait(for: "the command") { try isThere() && isWritten("pid", in: folder) }
            let text = try folder.text("pid")
            let process = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
            let shell = try #require(parent(of: process))
            kill(process, signal)
            try await wait(for: "its end") { try isWritten("code", in: folder) || hasEnded(process) }
            // strace may wait on; the shell learns the exit code from its end at the latest.
            strace.send(SIGKILL)
            try await wait(for: "the code") {
                // When strace is killed first, the command's end is not reported to us.
                kill(shell, SIGCHLD)
                return try isWritten("code", in: folder)
            }
        }
        #expect(try folder.text("code") == "\(128 + signal)\n")
    }

    private static func parent(of process: pid_t) -> pid_t? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("PPid:") }
        return line?.split(separator: "\t").last.flatMap { pid_t($0) }
    }

    private static func isWritten(_ name: String, in folder: some Workplace) throws -> Bool {
        try folder.exists(name) && !folder.bytes(name).isEmpty
    }
}
