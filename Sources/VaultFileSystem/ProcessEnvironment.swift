internal import Glibc

/// The variables that this process was started with.
public enum ProcessEnvironment {
    /// Hands the bytes of a variable to `body`, as they stand in the environment: a secret is copied only by the
    /// caller. Nil where the variable is not set.
    public static func withValue<R: ~Copyable>(of name: String, _ body: (Span<UInt8>) -> R) -> R? {
        guard let start = unsafe getenv(name) else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: strlen(start))
        return unsafe body(bytes.bindMemory(to: UInt8.self).span)
    }
}
