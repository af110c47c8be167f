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
    /// - Throws: `.usage` for an empty command, `.missing` for an unknown program, `.unwritable` for one that can't be started.
    public static func execute(_ command: [String], setting variables: [String: String]) throws(VaultError)
        -> Never
    {
        guard let program = command.first, !program.isEmpty else {
            throw VaultError(.usage, "no command is named", at: "command", remedy: "write it behind --")
        }
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
