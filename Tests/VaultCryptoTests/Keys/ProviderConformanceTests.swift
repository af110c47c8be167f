import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

/// A kind of provider, created with one text.
enum ProviderKind: String, CaseIterable, Sendable {
    case inMemory, closure, environment, file, fileDescriptor, directory, command, combined

    func provider(holding text: String, in folder: TestFolder) throws -> any KeyProvider {
        switch self {
        case .inMemory: return InMemoryKeyProvider(try ring(text))
        case .closure:
            return ClosureKeyProvider { _ throws(VaultError) in
                do { return try ring(text) } catch { throw error as? VaultError ?? unexpected }
            }
        case .environment:
            let name = "ASSETVAULT_TEST_\(UUID().uuidString.replacing("-", with: "_"))"
            _ = unsafe setenv(name, text, 1)
            return EnvironmentKeyProvider(variable: name)
        case .file: return FileKeyProvider(path: try folder.write(text, to: "ring"))
        case .fileDescriptor:
            let pipe = Pipe()
            let provider = try FileDescriptorKeyProvider(descriptor: pipe.fileHandleForReading.fileDescriptor)
            try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try pipe.fileHandleForWriting.close()
            return provider
        case .directory:
            try folder.write(text, to: "secrets/ring.jwks")
            return DirectoryKeyProvider(path: folder.path.appending("secrets"))
        case .command:
            let file = try folder.write(text, to: "ring")
            let script = try folder.write("cat \(file)", to: "script")
            return CommandKeyProvider(executable: "sh", arguments: [script.string])
        case .combined:
            let file = FileKeyProvider(path: try folder.write(text, to: "ring"))
            return CombinedKeyProvider([InMemoryKeyProvider(KeyRing()), file])
        }
    }
}

private let unexpected = VaultError(.io, "unexpected", at: "test", remedy: "mend the test")

/// The requirements for every provider.
@Suite("Provider conformance") struct ProviderConformanceTests {
    let folder: TestFolder
    let key = SampleKey(value: 7)
    let contentID = [UInt8](0..<16)

    init() throws {
        folder = try TestFolder()
    }

    @Test("finds a key by its ID", arguments: ProviderKind.allCases)
    func findsByID(_ kind: ProviderKind) async throws {
        let text = jwkSet(
            key.vaultJWK("one"), SampleKey(value: 8).vaultJWK("two"),
            SampleKey(value: 9).contentJWK(contentID))
        let provider = try kind.provider(holding: text, in: folder)
        #expect(try await provider.keys(for: KeyID("one")).vaultKeyBytes == [key.bytes])
        #expect(try await provider.keys(for: KeyID("two")).vaultKeyBytes == [SampleKey(value: 8).bytes])
        let content = try await provider.keys(for: KeyID("AAECAwQFBgcICQoLDA0ODw"))
        #expect(content.contentKeys.map { $0.secret.copied } == [SampleKey(value: 9).bytes])
        #expect(content.vaultKeys.isEmpty)
    }

    @Test("returns an empty ring for an unknown ID", arguments: ProviderKind.allCases)
    func unknownID(_ kind: ProviderKind) async throws {
        let provider = try kind.provider(holding: jwkSet(key.vaultJWK("one")), in: folder)
        #expect(try await provider.keys(for: KeyID("ONE")).isEmpty)
        #expect(try await provider.keys(for: KeyID("--help")).isEmpty)
    }

    @Test("accepts one JWK or a set", arguments: ProviderKind.allCases)
    func singleJWK(_ kind: ProviderKind) async throws {
        let provider = try kind.provider(holding: key.vaultJWK("one") + "\n", in: folder)
        #expect(try await provider.keys(for: KeyID("one")).vaultKeyBytes == [key.bytes])
    }

    @Test("lists all its keys in their order", arguments: ProviderKind.allCases)
    func listsAll(_ kind: ProviderKind) async throws {
        let text = jwkSet(key.vaultJWK("z"), SampleKey(value: 8).vaultJWK("a"), key.contentJWK(contentID))
        let provider = try kind.provider(holding: text, in: folder)
        #expect(try await provider.allKeys().ids == ["z", "a", "AAECAwQFBgcICQoLDA0ODw"])
    }

    @Test("refuses a malformed ring, without a secret in the text", arguments: ProviderKind.allCases)
    func malformed(_ kind: ProviderKind) async throws {
        let text = jwkSet(key.vaultJWK("one"), key.vaultJWK("one"))
        for _ in 0..<2 {
            let error = await failure {
                let provider = try kind.provider(holding: text, in: folder)
                _ = try await provider.keys(for: KeyID("one"))
            }
            #expect(error?.category == .key)
            #expect(error?.problem.contains("two keys have the kid 'one'") == true)
            #expect(error?.description.contains(key.text.prefix(8)) == false)
        }
    }

    @Test("supports repeated and concurrent lookups", arguments: ProviderKind.allCases)
    func repeatedly(_ kind: ProviderKind) async throws {
        let text = jwkSet(key.vaultJWK("one"), SampleKey(value: 8).vaultJWK("two"))
        let provider = try kind.provider(holding: text, in: folder)
        let answers = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
            for number in 0..<12 {
                group.addTask {
                    number.isMultiple(of: 2)
                        ? try await provider.keys(for: KeyID("one")).vaultKeyBytes
                        : try await provider.allKeys().vaultKeyBytes
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.filter { $0 == [key.bytes] }.count == 6)
        #expect(answers.filter { $0 == [key.bytes, SampleKey(value: 8).bytes] }.count == 6)
    }
}
