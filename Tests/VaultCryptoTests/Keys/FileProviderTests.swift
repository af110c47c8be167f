import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("Key files") struct FileProviderTests {
    let folder: TestFolder
    let key = SampleKey(value: 7)

    init() throws {
        folder = try TestFolder()
    }

    @Test("only the owner may read it", arguments: [0o640, 0o604, 0o644, 0o660, 0o622, 0o601])
    func open(mode: Int) async throws {
        let path = try folder.write(key.vaultJWK("one"), to: "ring", mode: mode)
        let error = await failure { _ = try await FileKeyProvider(path: path).allKeys() }
        #expect(error?.category == .key)
        #expect(error?.remedy == "run: chmod 600 \(path)")
    }

    @Test("modes that are accepted", arguments: [0o600, 0o400])
    func strict(mode: Int) async throws {
        let path = try folder.write(key.vaultJWK("one"), to: "ring", mode: mode)
        #expect(try await FileKeyProvider(path: path).allKeys().ids == ["one"])
    }

    @Test("the mode of a link's target counts")
    func link() async throws {
        try folder.write(key.vaultJWK("one"), to: "ring", mode: 0o644)
        try folder.link("link", to: "ring")
        let provider = FileKeyProvider(path: folder.path.appending("link"))
        #expect(await failure { _ = try await provider.allKeys() }?.category == .key)
    }

    @Test("missing, a folder, a pipe, too large, empty: each is a key error")
    func unusable() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.path.appending("folder").string, withIntermediateDirectories: true)
        #expect(unsafe mkfifo(folder.path.appending("pipe").string, 0o600) == 0)
        try folder.write("", to: "empty")
        try folder.write(String(repeating: " ", count: 1 << 20) + key.vaultJWK("one"), to: "large")
        let expected = [
            "missing": "no such file", "folder": "is a folder", "pipe": "is a pipe",
            "empty": "ends too early",
            "large": "larger than 1 MiB",
        ]
        for (name, problem) in expected {
            let error = await failure {
                _ = try await FileKeyProvider(path: folder.path.appending(name)).allKeys()
            }
            #expect(error?.category == .key)
            #expect(error?.problem.contains(problem) == true, "\(name): \(String(describing: error))")
        }
    }

    @Test("a ring that needs several reads")
    func large() async throws {
        let text = String(repeating: " ", count: (1 << 20) - 200) + key.vaultJWK("one")
        let path = try folder.write(text, to: "ring")
        #expect(try await FileKeyProvider(path: path).allKeys().vaultKeyBytes == [key.bytes])
    }

    @Test("a key replaced while the program runs is read again")
    func exchanged() async throws {
        let provider = FileKeyProvider(path: try folder.write(key.vaultJWK("one"), to: "ring"))
        #expect(try await provider.allKeys().ids == ["one"])
        try folder.write(key.vaultJWK("two"), to: "ring")
        #expect(try await provider.allKeys().ids == ["two"])
    }

    @Test("an unset or empty variable is named")
    func variables() async throws {
        for (name, value) in [("ASSETVAULT_TEST_UNSET", nil), ("ASSETVAULT_TEST_EMPTY", "")] {
            if let value { _ = unsafe setenv(name, value, 1) }
            let error = await failure { _ = try await EnvironmentKeyProvider(variable: name).allKeys() }
            #expect(error?.category == .key)
            #expect(error?.place == "environment variable \(name)")
        }
    }
}
