/// Wrappers that end a command before its time.
enum Killing {
    /// SIGKILL after so many seconds; in the foreground, so that the end of the killed command is waited for.
    static func after(_ seconds: Double) -> [String] {
        ["timeout", "--foreground", "--preserve-status", "--signal=KILL", "\(seconds)"]
    }

    /// SIGKILL instead of the `number`th call of one system call in a thread.
    static func at(_ call: String, number: Int) -> [String] {
        Sandbox.injecting("signal=KILL", into: call, number: number)
    }
}
