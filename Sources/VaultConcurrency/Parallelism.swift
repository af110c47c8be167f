/// How many tasks a pipeline of the current task may run at a time, where a caller leaves processors to others.
public enum Parallelism {
    /// A limit that may change while a pipeline runs: it is asked again for each input.
    public final class Limit: Sendable {
        let current: @Sendable () -> Int

        public init(_ current: @escaping @Sendable () -> Int) { self.current = current }
    }

    /// Nil for no limit. An object: optimised code of Swift 6.3 crashes when a closure itself is bound to a task.
    @TaskLocal public static var limit: Limit?

    /// 1 at least: work that can't go on would hold its caller for ever.
    static var width: Int { limit.map { max(1, $0.current()) } ?? .max }
}
