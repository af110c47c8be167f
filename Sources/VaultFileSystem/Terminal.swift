import CVaultSystem
import Glibc
import SystemPackage
public import VaultBase

/// The terminal at which this process was started, for asking its user.
public struct Terminal: ~Copyable {
    /// The longest line that a terminal gives.
    public static let lineLimit = 4_096

    private let file: OpenFile

    /// Nil where there is no terminal, or where the user does not see messages at it.
    public init?() {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        let opened = unsafe vault_open(VAULT_WORKING_FOLDER, "/dev/tty", VAULT_TERMINAL, 0)
        guard opened >= 0 else { return nil }
        file = OpenFile(takingOwnershipOf: opened, named: "/dev/tty")
    }

    /// Writes a prompt and reads a line without showing it; returns its length, without the end of the line. A signal that
    /// ``TerminationSignals`` catches makes the terminal show characters again.
    public func readSecretLine(asking prompt: String, into buffer: inout MutableSpan<UInt8>)
        throws(VaultError)
        -> Int
    {
        try check(vault_hide_echo(file.descriptor), .reading, "read without echo", file.path)
        defer { vault_show_echo() }
        try file.writeNext(Array(prompt.utf8).span)
        for count in buffer.indices {
            var byte: InlineArray<1, UInt8> = [0]
            var span = byte.mutableSpan
            guard try file.readNext(into: &span) == 1, byte[0] != UInt8(ascii: "\n") else {
                try file.writeNext([UInt8(ascii: "\n")].span)
                return count
            }
            buffer[count] = byte[0]
        }
        throw VaultError(.key, "the line is too long", at: file.path.string, remedy: "type a shorter one")
    }
}
