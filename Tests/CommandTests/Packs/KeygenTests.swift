import Testing

struct KeygenTests {
    @Test func failsWhenTheOutputCannotBeWritten() async throws {
        let full = try await Command.run("keygen -o -", through: Command.shell("exec \"$@\" > /dev/full"))
        full.failed(71, naming: "standard output")
    }
}
