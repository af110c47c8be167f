import Foundation
import Sampling
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

/// Every command, and its failures, with secrets that are looked for afterwards: in what it printed, in the arguments, the
/// environment and the inherited files of its children, in all files that it left, and in its memory when it ended.
@Suite(.timeLimit(.minutes(15))) struct CanaryTests {
    private let world: World
    private let telltale: Telltale
    private let canary: Canary

    init() async throws {
        world = try await World("level", "film", "finale") { world in
            for name in ["level", "film", "finale"] {
                try world.write("\(name)/file", name)
                try world.write("\(name)/noise", Bytes.random(200_000, seed: 1))
            }
        }
        try await world.run("keys add $VAULT --audience held").succeeded()
        try world.declare(["level": ["tags": ["level"]], "film": [:], "finale": ["held": true]]) {
            $0["channels"] = ["dev", "live"]
        }
        try await world.publish()
        try await world.run("promote $VAULT --all --from dev --to live").succeeded()
        telltale = try await Telltale(in: world)
        var canary = try await Self.canary(of: world)
        try world.makeFolder("temporary")
        try world.write(
            "bin/key", "#!/bin/sh\ncat '\(world["vault/keys/vault.jwks"])'\n", permissions: 0o755)
        try world.write("bin/rclone", "#!/bin/sh\nexec /usr/bin/rclone \"$@\"\n", permissions: 0o755)
        try world.write("rclone.conf", "")
        for name in ["open", "wrong"] { try await world.run("keygen -o $WORK/\(name).jwks").succeeded() }
        try world.setPermissions("open.jwks", 0o644)
        let text = try world.text("vault/keys/vault.jwks").dropLast(3)
        try world.write("cut.jwks", String(text), permissions: 0o600)
        try await world.run("seal $WORK/level -o $WORK/whole.avpack $KEYS").succeeded()
        canary.add(try Self.contentKey(of: "whole.avpack", in: world), named: "whole.avpack")
        self.canary = canary
        for name in ["whole.avpack", "whole.avpack.json"] {
            try await world.copy(name, to: "damaged" + name.dropFirst("whole".count))
        }
        try world.flipBit(of: "damaged.avpack", at: 3_000)
    }

    /// The vault key, a content key, and the signing keys.
    private static func canary(of world: World) async throws -> Canary {
        var canary = Canary()
        try await world.run("keys export $VAULT --pack level -o $WORK/content.jwks").succeeded()
        for name in ["vault/keys/vault.jwks", "content.jwks"] {
            let text = try world.json(name).array("keys", at: name)[0].asObject(at: name).string(
                "k", at: name)
            canary.add(try #require(Base64URL.decode(text.utf8)), named: name)
        }
        for role in ["root", "targets", "snapshot", "timestamp"] {
            let name = "vault/keys/\(role).pem"
            let text = try world.lines(name)[1]
            canary.add(Array(try #require(Data(base64Encoded: text)).suffix(32)), named: name)
            // Without the part that is the same in all keys.
            canary.add(text: String(text.dropFirst(24)), named: name)
        }
        return canary
    }

    private static func contentKey(of pack: String, in world: World) throws -> [UInt8] {
        func decoded(_ value: JSONValue?) throws -> [UInt8] {
            try #require(value?.text.flatMap { Base64URL.decode($0.utf8) })
        }
        let key = try decoded(world.json("vault/keys/vault.jwks")["keys"]?.elements?.first?["k"])
        let slot = try world.json(pack + ".json")["custom", "assetvault", "slots"]?.elements?.first
        let wrapped = try decoded(slot?["wrapped"])
        return try AESKeyWrap.unwrap(wrapped.span, under: SecretBytes(copying: key.span))
            .withBytes { key in key.indices.map { key[$0] } }
    }

    /// In the order in which they run: each finds what those before it left.
    private static let successes: [Words] = [
        "keygen -o $WORK/new.jwks", "seal $WORK/level -o $WORK/pack $KEYS",
        "seal $WORK/level -o $WORK/next.avpack --previous $WORK/whole.avpack --json $KEYS",
        "open $WORK/whole.avpack -o $WORK/opened $KEYS", "open $WORK/whole.avpack --tar $WORK/tar $KEYS",
        "cat $WORK/whole.avpack noise $KEYS", "inspect $WORK/whole.avpack --json $KEYS",
        "cat level file --site $SITE $TRUST $KEYS", "audit $WORK/whole.avpack --json $KEYS",
        "init $WORK/second", "plan $VAULT", "publish $VAULT --pack more=$WORK/level --json",
        "publish $VAULT --pack other=$WORK/level $KEYS", "publish $VAULT --dry-run",
        "promote $VAULT --all --from dev --to live", "restore $VAULT level --version 1",
        "prune $VAULT --keep 1 --grace 0d",
        "upload $SITE $WORK/host", "upload $SITE rsync:$WORK/rsync-host",
        "upload $SITE :local:$WORK/rclone-host",
        "mirror $SITE $WORK/copy $TRUST", "repair $WORK/copy --from $SITE $TRUST",
        "trust show $VAULT", "trust show $SITE $TRUST", "trust refresh $VAULT",
        "trust rotate $VAULT timestamp",
        "keys list $VAULT --json", "keys add $VAULT --audience press",
        "keys check file:$WORK/vault/keys/vault.jwks",
        "keys check exec:$WORK/bin/key --site $SITE $TRUST",
        "keys export $VAULT --pack film -o $WORK/film.jwks",
        "list $SITE $TRUST --json", "list $SITE $TRUST $KEYS",
        "audit $SITE $TRUST $KEYS --keys file:$WORK/vault/keys/held.jwks",
        "downloader $SITE $STORE $TRUST --request install", "unlock level $STORE $KEYS",
        "fetch $SITE $CLIENT level", "fetch $SITE $STORE $TRUST --keys exec:$WORK/bin/key film",
        "fetch $SITE $CLIENT --sealed film", "status $STORE --json", "path level $STORE",
        "usage $STORE",
        "access level $STORE $KEYS -- /bin/sh -c env", "preserve level --keep $STORE", "verify $STORE $KEYS",
        "repair $SITE $CLIENT", "remove film $STORE", "preserve level --purgeable $STORE", "purge $STORE",
        "release $VAULT finale", "keys reseal $VAULT --pack film",
        "keys rekey $VAULT", "keys list $VAULT", "keys rekey $VAULT --finish",
    ]

    private static let failures: [(Int32?, Words)] = [
        (64, "cat $WORK/whole.avpack file --keys vault.jwks"), (66, "seal $WORK/absent -o $WORK/p $KEYS"),
        (73, "keygen -o $WORK/wrong.jwks"), (73, "seal $WORK/level -o $WORK/whole.avpack $KEYS"),
        (77, "open $WORK/whole.avpack -o $WORK/o --keys file:$WORK/wrong.jwks"),
        (77, "open $WORK/whole.avpack -o $WORK/o --keys file:$WORK/open.jwks"),
        (77, "open $WORK/whole.avpack -o $WORK/o --keys file:$WORK/cut.jwks"),
        (77, "open $WORK/whole.avpack -o $WORK/o --keys file:$WORK/absent.jwks"),
        (77, "open $WORK/whole.avpack -o $WORK/o --keys exec:/bin/false"),
        (65, "open $WORK/damaged.avpack -o $WORK/o $KEYS"),
        (65, "open $WORK/damaged.avpack --tar $WORK/o $KEYS"),
        (65, "cat $WORK/damaged.avpack noise $KEYS"), (nil, "audit $WORK/damaged.avpack $KEYS"),
        (66, "inspect $WORK/absent $KEYS"), (77, "inspect $WORK/whole.avpack --keys file:$WORK/wrong.jwks"),
        (nil, "plan $WORK"), (nil, "init $VAULT --team x/y/z!"),
        (nil, "publish $VAULT --pack absent=$WORK/absent"),
        (77, "publish $VAULT --keys file:$WORK/cut.jwks"),
        (nil, "promote $VAULT absent --from dev --to live"),
        (nil, "restore $VAULT absent --version 1"), (nil, "prune $WORK/absent"),
        (nil, "upload $WORK/absent $WORK/host"), (nil, "upload $SITE rsync:/dev/null/x"),
        (nil, "mirror $WORK/absent $WORK/copy $TRUST"), (nil, "repair $WORK/absent --from $SITE $TRUST"),
        (nil, "trust rotate $VAULT absent"), (nil, "trust show $WORK/absent"),
        (nil, "trust sign $VAULT/vault.json --key $VAULT/keys/vault.jwks"),
        (nil, "trust threshold $VAULT absent 1"),
        (nil, "keys retire $VAULT absent"), (nil, "keys remove $VAULT absent"),
        (66, "release $VAULT absent"), (64, "release $VAULT film --at tomorrow"),
        (66, "keys reseal $VAULT --pack absent"),
        (73, "keys export $VAULT --pack level -o $WORK/content.jwks"),
        (77, "keys check file:$WORK/wrong.jwks --site $SITE $TRUST"), (77, "keys check file:$WORK/cut.jwks"),
        (nil, "serve $WORK/absent"), (nil, "list $WORK/absent $TRUST $KEYS"),
        (77, "audit $SITE $TRUST --keys file:$WORK/cut.jwks"),
        (nil, "downloader $WORK/absent $STORE $TRUST --request install"),
        (nil, "fetch $WORK/absent $CLIENT"),
        (0, "fetch $SITE --store $WORK/third $TRUST --keys file:$WORK/wrong.jwks level"),
        (nil, "fetch $SITE $STORE --trust $WORK/vault/vault.json $KEYS"),
        (77, "unlock level $STORE --keys file:$WORK/wrong.jwks"),
        (nil, "status --store $WORK/absent"), (nil, "path absent $STORE"),
        (nil, "usage --store $WORK/absent"),
        (nil, "access absent $STORE $KEYS -- /bin/true"), (nil, "preserve absent --keep $STORE"),
        (nil, "verify --store $WORK/absent $KEYS"), (nil, "repair $WORK/absent $CLIENT"),
        (nil, "remove absent $STORE"), (nil, "purge --store $WORK/absent"),
    ]

    @Test func everyCommandIsTried() async throws {
        let commands = try await Command.subcommands()
        // `serve` runs until it is ended, and reads no key.
        for words in [Self.successes + ["serve $SITE"], Self.failures.map(\.1)] {
            #expect(Set(commands).subtracting(words.compactMap { $0.list().first }) == [])
        }
    }

    @Test func noSecretAfterSuccess() async throws {
        for words in Self.successes { try await look(at: words, code: 0) }
    }

    @Test func noSecretAfterFailure() async throws {
        try await world.run("fetch $SITE $CLIENT film").succeeded()
        try await world.run("fetch $SITE $STORE $TRUST --sealed level").succeeded()
        // It ends soon after it has read its keys, so that freed memory keeps what it had.
        try await look(at: "trust threshold $VAULT root 1", code: 64)
        for (code, words) in Self.failures.sample(20, for: "canary failures") {
            try await look(at: words, code: code)
        }
    }

    @Test func noSecretWhereOutputFails() async throws {
        let full = Command.shell("\"$@\" > /dev/full")
        for words in [
            "cat $WORK/whole.avpack noise $KEYS", "open $WORK/whole.avpack --tar - $KEYS", "keygen -o -",
            "inspect $WORK/whole.avpack $KEYS", "audit $SITE $TRUST $KEYS", "fetch $SITE $CLIENT --json",
            "keys list $VAULT", "publish $VAULT --pack more=$WORK/film --json",
        ] as [Words] { try await look(at: words, code: nil, through: full) }
        try world.makeFolder("disk")
        let disk = Sandbox.smallDisk("64k", at: world["disk"], listing: world["listing"])
        try await look(at: "seal $WORK/level -o $WORK/disk/pack $KEYS", code: 71, through: disk)
        try await look(at: "open $WORK/whole.avpack -o $WORK/disk/o $KEYS", code: 71, through: disk)
        try await look(
            at: "fetch $SITE --store $WORK/disk/store $TRUST $KEYS film", code: nil, through: disk)
    }

    /// Killed at some of their steps.
    @Test func noSecretIsLeftByTheKilled() async throws {
        for words in [
            "keygen -o $WORK/killed.jwks", "seal $WORK/level -o $WORK/killed $KEYS",
            "open $WORK/whole.avpack -o $WORK/killed-opened $KEYS", "publish $VAULT --pack more=$WORK/film",
            "fetch $SITE $CLIENT --all", "keys rekey $VAULT", "trust rotate $VAULT targets",
            "init $WORK/killed-vault",
        ] as [Words] {
            for number in [1, 2, 4] {
                let result = try await world.run(words, through: Killing.at("fsync", number: number))
                #expect([0, 137, 73].contains(result.exitCode), "\(words.list()): \(result.errorText)")
                #expect(number > 1 || result.exitCode == 137, "\(words.list()) was not killed")
                try lookAtFiles(words.list().joined(separator: " "))
            }
        }
    }

    /// A key in a variable or a descriptor stays with the command: its programs get neither.
    @Test func programsGetNoKey() async throws {
        try await world.run("fetch $SITE $CLIENT level film").succeeded()
        let key = try world.text("vault/keys/vault.jwks")
        let descriptor = Command.shell("exec \"$@\" 3< '\(world["vault/keys/vault.jwks"])'")
        for words in [
            "access level $STORE --keys env:KEY -- /bin/true", "access level $STORE --keys fd:3 -- /bin/true",
            "fetch $SITE --store $WORK/fresh $TRUST --keys env:KEY --keys exec:$WORK/bin/key film",
            "fetch $SITE --store $WORK/other $TRUST --keys fd:3 --keys exec:$WORK/bin/key film",
        ] as [Words] {
            let takesVariable = words.list().contains("env:KEY")
            // The environment is in the command's own memory, as its caller put it there.
            try await look(
                at: words, code: 0, through: takesVariable ? [] : descriptor,
                environment: takesVariable ? ["KEY": key] : [:],
                inMemory: !takesVariable)
        }
    }

    /// Where no memory is locked, and where keys need more than there is.
    @Test func noSecretStaysInUnlockedMemory() async throws {
        let open: Words = "open $WORK/whole.avpack -o $WORK/unlocked $KEYS"
        try await look(at: open, code: 0, through: LockedMemoryTests.unlocked)
        let spaces = String(repeating: " ", count: 450_000)
        try world.write(
            "large.jwks", spaces + world.text("vault/keys/vault.jwks") + spaces, permissions: 0o600)
        // Freed memory stays with the process, whatever its size.
        let kept = ["mmap_threshold", "trim_threshold"].map { "glibc.malloc.\($0)=\(1 << 24)" }
        try await look(
            at: "cat $WORK/whole.avpack noise --keys file:$WORK/large.jwks", code: 0,
            environment: ["GLIBC_TUNABLES": kept.joined(separator: ":")])
    }

    /// Even if the process were dumpable: aborted while it holds its keys and waits for its source.
    @Test func noSecretInACore() async throws {
        let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
        guard !pattern.hasPrefix("|"), !pattern.contains("/") else {
            withKnownIssue("the system gives core files to a program: \(pattern)") {
                Issue.record("no core to search")
            }
            return
        }
        let place = try world.makeFolder("place")
        try await Tool.run("mkfifo", world["pipe"])
        // Swift's own report of a crash would come before the core.
        let wrapper = Command.shell(
            "ulimit -c unlimited; SWIFT_BACKTRACE=enable=no exec \"$@\" <> '\(world["pipe"])'")
        try await world.whileRunning(
            "seal - -o \(place)/out --id x $KEYS", workingDirectory: FilePath(place),
            through: wrapper + telltale.through(dumpable: true)
        ) { process in
            // It waits in its scratch folder.
            try await wait(for: "the output") { try !world.names(in: "place").isEmpty }
            process.send(SIGABRT)
            try await wait(for: "the core") {
                try world.names(in: "place").contains { $0.hasPrefix("core") }
            }
        }
        let name = try #require(try world.names(in: "place").first { $0.hasPrefix("core") })
        let core = Data(try world.bytes("place/\(name)"))
        #expect(core.contains(Array("vault.jwks".utf8)), "the core has nothing of the command")
        #expect(canary.found(in: core) == [])
    }

    // MARK: - Looking

    private func look(
        at words: Words, code: Int32?, through wrapper: [String] = [], environment: [String: String?] = [:],
        inMemory: Bool = true
    ) async throws {
        let line = words.list().joined(separator: " ")
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let own = [
            "TMPDIR": world["temporary"], "PATH": "\(world["bin"]):\(path)",
            "RCLONE_CONFIG": world["rclone.conf"],
        ]
        let result = try await world.run(
            words, environment: environment.merging(own) { $1 }, through: wrapper + telltale.through())
        if let code {
            #expect(result.exitCode == code, "\(line): \(result.errorText)")
        } else {
            #expect(![0, 139].contains(result.exitCode), "\(line) did not fail")
        }
        #expect(canary.found(in: Data(result.output + result.errors)) == [], "printed by: \(line)")
        let told = try telltale.told()
        // The search finds what is there: the command's own arguments.
        #expect(
            told.contains { $0.key.hasPrefix("memory.") && $0.value.contains(Array(words.list()[0].utf8)) }
                || words.list().contains("--"), "nothing was told of: \(line)")
        for (name, bytes) in told where inMemory || !name.hasPrefix("memory.") {
            #expect(canary.found(in: bytes) == [], "\(name) of: \(line)")
        }
        try lookAtFiles(line)
    }

    /// In all files but those of keys.
    private func lookAtFiles(_ line: String) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: world.path.string) {
            guard !name.hasSuffix(".jwks"), !name.hasSuffix(".pem"),
                let bytes = FileManager.default.contents(atPath: world[name])
            else { continue }
            // A file of keys that is being written.
            let isKeyFile = name.hasPrefix("vault/keys/.")
            #expect(isKeyFile || canary.found(in: bytes) == [], "\(name) after: \(line)")
        }
    }
}
