/// How many tasks a pipeline of the current task may run at a time, where a caller leaves processors to others.
public enum Parallelism {
    /// Asked again for each input, as it may change while the pipeline runs.
    @TaskLocal public static var limit: @Sendable () -> Int = { .max }
}
