import Glibc

/// Starts programs as whole processes.
enum ChildProcess {
    /// Starts a program with nothing on its standard input; standard error goes to the file `errors`, since a progress
    /// bar on a terminal would cost time. Returns its ID, which must be waited for.
    /// - Parameter arguments: the absolute path of the program first.
    static func start(_ arguments: [String], environment: [String: String], errors: String) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o644)

        let words = unsafe CStrings(arguments)
        let variables = unsafe CStrings(environment.map { "\($0)=\($1)" })
        defer {
            unsafe words.free()
            unsafe variables.free()
        }
        var process: pid_t = 0
        let problem = unsafe posix_spawn(
            &process, arguments[0], &actions, nil, words.pointers, variables.pointers)
        guard problem == 0 else { throw Failure("\(arguments[0]) can't be started: error \(problem)") }
        return process
    }
}

/// Why a benchmark could not be made.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// An array of C strings that ends in nil, as `posix_spawn` takes it.
@unsafe
private struct CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) { unsafe pointers = strings.map { unsafe strdup($0) } + [nil] }

    func free() {
        for index in unsafe pointers.indices { unsafe Glibc.free(pointers[index]) }
    }
}
