import StrictJSON
import SystemPackage
import Testing
import VaultBytes

/// A folder to seal and open in, with a vault key and a small source.
struct SamplePack: Sendable {
    static let keyID = "test-key"
    /// The vault key's bytes: 0, 1, 2 … 31.
    static let secret = (0..<32).map { UInt8($0) }
    static let encodedSecret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    let folder: TemporaryFolder

    var keyFile: String { folder["vault.jwks"] }
    var keys: [String] { ["--keys", "file:\(keyFile)"] }
    var level: String { folder["level"] }
    var pack: String { folder["level.avpack"] }

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("vault.jwks", Self.jwk(Self.secret), permissions: 0o600)
        try folder.write("level/maps/start.json", #"{"name":"start"}"#)
        try folder.write("level/maps/größe 1.txt", "große Karte\n")
        try folder.write("level/run.sh", "#!/bin/sh\n", permissions: 0o755)
        try folder.write("level/noise.bin", Self.noise(200_000))
        try folder.write("level/nothing", [])
        try folder.makeFolder("level/empty/inner")
    }

    static func jwk(_ secret: [UInt8], id: String = keyID) -> String {
        let text = Base64URL.encode(secret.span)
        return #"{"kty":"oct","alg":"A256KW","kid":"\#(id)","k":"\#(text)"}"#
    }

    /// Incompressible bytes, the same in every run (xorshift64*).
    static func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { _ in
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return UInt8(truncatingIfNeeded: state &* 0x2545_F491_4F6C_DD1D >> 56)
        }
    }

    @discardableResult
    func seal(_ source: String? = nil, as pack: String? = nil, _ options: String...) async throws -> String {
        let pack = pack ?? self.pack
        try await Command.run(["seal", source ?? level, "-o", pack] + keys + options).succeeded()
        return pack
    }

    func open(_ pack: String? = nil, into target: String, _ options: String...) async throws -> CommandResult
    {
        try await Command.run(["open", pack ?? self.pack, "-o", target] + keys + options)
    }

    /// The `assetvault` object of a manifest.
    func manifest(_ name: String = "level.avpack.json") throws -> JSONObject {
        try folder.json(name).object("custom", at: name).object("assetvault", at: name)
    }

    /// Runs `body`, which must leave every name and byte of the folder as they were.
    func unchanged(_ body: () async throws -> Void, at location: SourceLocation = #_sourceLocation)
        async throws
    {
        let before = try await Self.listing(folder.path.string)
        try await body()
        let after = try await Self.listing(folder.path.string)
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
