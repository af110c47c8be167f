import Testing

/// Keys are kept in locked memory; a system that refuses it is reported.
struct LockedMemoryTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    /// Locks no memory, not even for root.
    static let unlocked = Command.shell(
        """
        ulimit -l 0 || exit 125
        [ "$(id -u)" != 0 ] || exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$@"
        exec "$@"
        """)

    private func warnings(_ result: CommandResult) -> Int {
        result.errorText.split(separator: "\n").count { $0.contains("locks no memory") }
    }

    @Test func unlockedMemoryIsReportedOnce() async throws {
        for words in [
            "keygen -o $WORK/new.jwks", "seal $LEVEL -o $PACK $KEYS", "open $PACK -o $WORK/opened $KEYS",
            "init $WORK/vault",
            "publish $WORK/vault --pack one=$LEVEL --keys file:$WORK/vault/keys/vault.jwks",
        ] as [Words] {
            let result = try await sample.run(words, through: Self.unlocked).succeeded()
            #expect(warnings(result) == 1, "\(words.list()[0]): \(result.errorText)")
        }
        // Without a key there is nothing to lock.
        let result = try await sample.run("inspect $PACK", through: Self.unlocked).succeeded()
        #expect(warnings(result) == 0)
    }

    /// Larger than the secure heap, as with very many keys: the rest is on the ordinary heap, and wiped there.
    @Test func keysThatNeedMoreMemoryAreReportedOnce() async throws {
        try await sample.seal()
        let keys = try sample.text("vault.jwks") + String(repeating: " ", count: 900_000)
        try sample.write("large.jwks", keys, permissions: 0o600)
        let result = try await sample.run("cat $PACK run.sh --keys file:$WORK/large.jwks").succeeded()
        #expect(result.text == "#!/bin/sh\n")
        let warnings = result.errorText.split(separator: "\n").count { $0.contains("1 MiB of locked memory") }
        #expect(warnings == 1)
    }

    /// What a command prints has room there.
    @Test func keysOfACommandAreLocked() async throws {
        try await sample.seal()
        let script = "#!/bin/sh\nexec cat '\(sample.keyFile)'\n"
        try sample.write("key", script, permissions: 0o755)
        let result = try await sample.run("cat $PACK run.sh --keys exec:$WORK/key").succeeded()
        #expect(result.errorText == "")
    }

    @Test func lockedMemoryIsNotReported() async throws {
        #expect(warnings(try await sample.run("keygen -o $WORK/new.jwks").succeeded()) == 0)
    }
}
