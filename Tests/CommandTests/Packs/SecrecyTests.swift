import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

/// No command prints a key, or writes one to a file other than the key file: in raw, hex or Base64 form.
@Suite(.timeLimit(.minutes(10))) struct SecrecyTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    /// A key in raw bytes, hex and Base64.
    private func forms(_ key: [UInt8]) -> [[UInt8]] {
        let hex = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let base64 = Data(key).base64EncodedString()
        // Without the last characters, which depend on what follows.
        let texts = [hex, hex.uppercased(), base64, Base64URL.encode(key.span)].map { String($0.dropLast(4)) }
        return [key] + texts.map { Array($0.utf8) }
    }

    private func contentKey(_ manifest: String) throws -> [UInt8] {
        let slots = try sample.manifest(manifest).array("slots", at: "")
        let wrapped = try slots[0].asObject(at: "").string("wrapped", at: "")
        let bytes = try #require(Base64URL.decode(wrapped.utf8))
        let secret = SamplePack.secret
        let vaultKey = SecretBytes(copying: secret.span)
        return try AESKeyWrap.unwrap(bytes.span, under: vaultKey).withBytes { key in
            key.indices.map { key[$0] }
        }
    }

    @Test func noKeyInAnyOutput() async throws {
        let bad = sample["bad.jwks"]
        try sample.write(
            "bad.jwks", SamplePack.jwk(SamplePack.secret).dropLast(1) + ",", permissions: 0o600)
        let open = sample["open.jwks"]
        try sample.write("open.jwks", SamplePack.jwk(SamplePack.secret), permissions: 0o644)
        let sealing: [Words] = [
            "seal $LEVEL -o $PACK --json $KEYS", "seal $LEVEL -o $PACK $KEYS",
            "open $PACK -o $WORK/opened $KEYS", "open $PACK --tar $WORK/opened.tar $KEYS",
            "cat $PACK noise.bin $KEYS", "inspect $PACK --json $KEYS",
        ]
        let lookups = [
            "file:\(bad)", "file:\(open)", "env:KEY", "fd:0", SamplePack.jwk(SamplePack.secret),
            SamplePack.encodedSecret, "file:\(SamplePack.encodedSecret)",
        ].map { "cat $PACK run.sh --keys \($0)" as Words }
        var printed: [UInt8] = []
        for words in sealing + lookups + ["keygen -o \(sample.keyFile)"] {
            let result = try await sample.run(
                words, input: Array(SamplePack.jwk(SamplePack.secret).dropLast(2).utf8),
                environment: ["KEY": SamplePack.encodedSecret])
            printed += result.output + result.errors
        }
        try await Tool.run("rm", bad, open, sample.keyFile)
        let texts = try FileManager.default.subpathsOfDirectory(atPath: sample.path.string)
            .compactMap { FileManager.default.contents(atPath: sample[$0]) }
        #expect(texts.count > 10)
        for form in forms(SamplePack.secret) + forms(try contentKey("level.avpack.json")) {
            #expect(Data(printed).range(of: Data(form)) == nil)
            for text in texts { #expect(text.range(of: Data(form)) == nil) }
        }
        // The same search finds a key that is present.
        #expect(
            Data(SamplePack.jwk(SamplePack.secret).utf8).range(of: Data(forms(SamplePack.secret)[4])) != nil)
    }

    @Test func aFreshKeyIsNotPrinted() async throws {
        let result = try await sample.run("keygen -o $WORK/new.jwks").succeeded()
        let key = try sample.json("new.jwks").array("keys", at: "")[0].asObject(at: "").string(
            "k", at: "")
        #expect(!result.text.contains(key) && !result.errorText.contains(key))
    }

    /// The process makes itself undumpable before it reads a key.
    @Test func processIsNotDumpable() async throws {
        try await sample.seal()
        let log = sample["log"]
        let strace = ["strace", "-f", "-qq", "-o", log, "-e", "trace=prctl,openat"]
        try await sample.run("cat $PACK run.sh $KEYS", through: strace).succeeded()
        let lines = try sample.text("log").split(separator: "\n")
        let call = "prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE) = 0"
        let place = try #require(lines.firstIndex { $0.hasSuffix(call) })
        // After that call strace as an ordinary user can no longer read file names.
        #expect(!lines[..<place].contains { $0.contains("vault.jwks") })
        #expect(lines[place...].contains { $0.contains("openat(") })
    }

    /// Aborted while it holds its keys and waits for its source.
    @Test func anAbortLeavesNoCore() async throws {
        let place = try sample.makeFolder("place")
        try await Tool.run("mkfifo", sample["pipe"])
        let wrapper = Command.shell("ulimit -c unlimited; exec \"$@\" <> '\(sample["pipe"])'")
        let seal: Words = "seal - -o \(place)/out --id x $KEYS"
        try await sample.whileRunning(seal, workingDirectory: FilePath(place), through: wrapper) {
            process in
            // It waits in its scratch folder.
            try await wait { try !sample.names(in: "place").isEmpty }
            let limits = try String(contentsOfFile: "/proc/\(process.processID)/limits", encoding: .utf8)
            let core = try #require(
                limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
            #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            process.send(SIGABRT)
        }
        #expect(try sample.names(in: "place").allSatisfy { $0.hasPrefix(".assetvault-") })
    }
}
