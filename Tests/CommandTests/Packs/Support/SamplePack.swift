import SystemPackage
import Testing
import VaultBase

/// A folder to seal and open in, with a vault key and a small source.
struct SamplePack: Workplace {
    static let keyID = "test-key"
    /// The vault key's bytes: 0, 1, 2 … 31.
    static let secret = (0..<32).map { UInt8($0) }
    static let encodedSecret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    private let folder: TemporaryFolder
    var path: FilePath { folder.path }
    var keyFile: String { self["vault.jwks"] }
    var keys: [String] { ["--keys", "file:\(keyFile)"] }
    var level: String { self["level"] }
    var pack: String { self["level.avpack"] }

    var variables: [String: [String]] {
        ["WORK": [path.string], "KEYS": keys, "LEVEL": [level], "PACK": [pack]]
    }

    init() throws {
        folder = try TemporaryFolder()
        try write("vault.jwks", Self.jwk(Self.secret), permissions: 0o600)
        try write("level/maps/start.json", #"{"name":"start"}"#)
        try write("level/maps/größe 1.txt", "große Karte\n")
        try write("level/run.sh", "#!/bin/sh\n", permissions: 0o755)
        try write("level/noise.bin", Bytes.random(200_000, seed: 1))
        try write("level/nothing", [])
        try makeFolder("level/empty/inner")
    }

    static func jwk(_ secret: [UInt8], id: String = keyID) -> String {
        let text = Base64URL.encode(secret.span)
        return #"{"kty":"oct","alg":"A256KW","kid":"\#(id)","k":"\#(text)"}"#
    }

    @discardableResult
    func seal(_ source: String? = nil, as pack: String? = nil, _ options: Words = "") async throws -> String {
        let pack = pack ?? self.pack
        try await run("seal \(source ?? level) -o \(pack) $KEYS \(options)").succeeded()
        return pack
    }

    func open(_ pack: String? = nil, into target: String) async throws -> CommandResult {
        try await run("open \(pack ?? self.pack) -o \(target) $KEYS")
    }

    /// The `assetvault` object of a manifest.
    func manifest(_ name: String = "level.avpack.json") throws -> JSONObject {
        try json(name).object("custom", at: name).object("assetvault", at: name)
    }

    /// Runs `body`, which must leave every name and byte of the folder as they were.
    func unchanged(_ body: () async throws -> Void, at location: SourceLocation = #_sourceLocation)
        async throws
    {
        let before = try await Self.listing(path.string)
        try await body()
        let after = try await Self.listing(path.string)
        #expect(after.subtracting(before) == [], sourceLocation: location)
        #expect(before.subtracting(after) == [], sourceLocation: location)
    }

    /// Every name below a folder with its kind and permissions, and the digest of each file's bytes.
    static func listing(_ folder: String) async throws -> Set<String> {
        let script = #"""
            find . -printf '%y %m %l %P\n'
            find . -type f -exec sha256sum {} +
            """#
        let lines = try await Tool.run("/bin/sh", "-c", script, workingDirectory: FilePath(folder)).text
        return Set(lines.split(separator: "\n").map(String.init))
    }
}

/// Expects two trees of equal names, bytes, kinds and modes.
func expectSameTree(_ one: String, _ other: String, at location: SourceLocation = #_sourceLocation)
    async throws
{
    let first = try await SamplePack.listing(one)
    let second = try await SamplePack.listing(other)
    #expect(first.subtracting(second) == [], sourceLocation: location)
    #expect(second.subtracting(first) == [], sourceLocation: location)
}
