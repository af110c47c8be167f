internal import CVaultSystem
internal import Glibc
internal import SystemPackage
public import VaultErrors

/// Becomes another program, which has this process's number.
public enum ProcessReplacement {
    /// Does not return. Descriptors are closed, but those that were kept (``OpenHandle/keepOpenAcrossExec()``).
    ///
    /// - Parameters:
    ///   - command: the program, looked for in `PATH`, and its arguments.
    ///   - variables: added to the environment.
    ///   - secrets: what the program does not get.
    /// - Throws: `.usage` for an empty command, `.missing` for an unknown program, `.unwritable` for one that can't be started.
    public static func execute(
        _ command: [String], setting variables: [String: String], withholding secrets: InheritedSecrets
    ) throws(VaultError) -> Never {
        guard let program = command.first, !program.isEmpty else {
            throw VaultError(.usage, "no command is named", at: "command", remedy: "write it behind --")
        }
        try secrets.withhold()
        for (name, value) in variables { _ = unsafe setenv(name, value, 1) }
        var arguments = unsafe command.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        let code = unsafe vault_execute(program, arguments)
        for index in unsafe arguments.indices { unsafe free(arguments[index]) }
        throw VaultError(
            code == -ENOENT ? .missing : .unwritable,
            "it can't be started (\(Errno(rawValue: -code)))", at: program, remedy: "check its name and PATH")
    }
}

/// Variables and open descriptors that this process got with secrets in them, and that no other program is to have.
public struct InheritedSecrets: Sendable {
    public var variables: [String] = []
    public var descriptors: [Int32] = []

    public init() {}

    /// Unsets the variables, and has `exec` close the descriptors. Standard input, which programs expect to be open, becomes
    /// empty.
    fileprivate func withhold() throws(VaultError) {
        for name in variables { _ = unsafe unsetenv(name) }
        for number in descriptors {
            if number == STDIN_FILENO {
                let empty = try OpenFile(device: "/dev/null")
                try check(vault_replace(empty.descriptor, number), .reading, "close it", "standard input")
            } else {
                try check(vault_close_on_exec(number), .reading, "close it", FilePath("descriptor \(number)"))
            }
        }
    }
}
