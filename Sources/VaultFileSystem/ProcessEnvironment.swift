internal import Glibc

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
