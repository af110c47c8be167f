import Foundation
import Synchronization
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("Kept keys") struct KeptKeysTests {
    /// A service that a test switches.
    final class Service: KeyProvider {
        let answer = Mutex<Result<KeyRing, VaultError>>(.success(KeyRing()))

        func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
            try answer.withLock { $0 }.get().keys(for: id)
        }
    }

    let folder: TestFolder
    let service = Service()
    let wrappingKey = [UInt8](1...32)
    var file: FilePath { folder.path.appending("kept") }

    init() throws {
        folder = try TestFolder()
        try give(jwkSet(SampleKey(value: 7).vaultJWK("one"), SampleKey(value: 8).vaultJWK("two")))
    }

    private func give(_ text: String) throws {
        let keys = try ring(text)
        service.answer.withLock { $0 = .success(keys) }
    }

    private func fail(_ category: VaultError.Category, _ code: Finding.Code? = nil) {
        service.answer.withLock {
            $0 = .failure(VaultError(category, "no answer", at: "service", remedy: "wait", code: code))
        }
    }

    /// As a new start of the app sees the file.
    private func keys(_ id: String) async throws -> [[UInt8]] {
        let kept = try KeptKeys(
            of: service, in: file, wrappedUnder: SecretBytes(copying: wrappingKey.span))
        return try await kept.keys(for: KeyID(id)).vaultKeyBytes
    }

    @Test(
        "a key is used where the service can't be reached or fails",
        arguments: [VaultError.Category.unreachable, .unavailable])
    func offline(_ category: VaultError.Category) async throws {
        #expect(try await keys("one") == [SampleKey(value: 7).bytes])
        fail(category)
        #expect(try await keys("one") == [SampleKey(value: 7).bytes])
        // What was never asked for is not kept.
        let error = await failure { _ = try await keys("two") }
        #expect(error?.category == category)
    }

    @Test(
        "a key that the service refuses is removed",
        arguments: [Finding.Code.keyTokenRefused, .keyNotGranted])
    func refused(_ code: Finding.Code) async throws {
        _ = try await keys("one")
        _ = try await keys("two")
        fail(.key, code)
        #expect(await failure { _ = try await keys("one") }?.code == code)
        fail(.unreachable)
        #expect(await failure { _ = try await keys("one") }?.category == .unreachable)
        #expect(try await keys("two") == [SampleKey(value: 8).bytes])
    }

    @Test("a key that the service does not know is removed") func unknown() async throws {
        _ = try await keys("one")
        try give(jwkSet())
        #expect(try await keys("one").isEmpty)
        fail(.unreachable)
        #expect(await failure { _ = try await keys("one") }?.category == .unreachable)
    }

    @Test("an unusable answer neither removes a key nor is it covered up") func unusable() async throws {
        _ = try await keys("one")
        fail(.key)
        #expect(await failure { _ = try await keys("one") }?.category == .key)
        fail(.unreachable)
        #expect(try await keys("one") == [SampleKey(value: 7).bytes])
    }

    @Test("another key under the same ID takes its place") func replaced() async throws {
        _ = try await keys("one")
        try give(SampleKey(value: 9).vaultJWK("one"))
        _ = try await keys("one")
        fail(.unreachable)
        #expect(try await keys("one") == [SampleKey(value: 9).bytes])
    }

    /// RFC 3394 around a JWK Set.
    @Test("the file holds nothing readable, is closed to others, and unwraps with the key alone")
    func wrapped() async throws {
        _ = try await keys("one")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file.string)))
        let shown = String(decoding: bytes, as: UTF8.self)
        #expect(
            !shown.contains("one") && !shown.contains(SampleKey(value: 7).text) && !shown.contains("keys"))
        let mode = try FileManager.default.attributesOfItem(atPath: file.string)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let text = try AESKeyWrap.unwrap(bytes.span, under: SecretBytes(copying: wrappingKey.span))
        #expect(try KeyRing(parsingJWK: text, place: "file").vaultKeyBytes == [SampleKey(value: 7).bytes])
        // Copied to another device, where the platform's store has another key.
        let error = await failure {
            _ = try KeptKeys(of: service, in: file, wrappedUnder: SecretBytes(randomLength: 32))
        }
        #expect(error?.category == .key && error?.place == file.string)
    }

    @Test("a damaged file is named, not taken for an empty one") func damaged() async throws {
        _ = try await keys("one")
        for bytes in [Data(), Data([1]), Data(count: 64)] {
            try bytes.write(to: URL(filePath: file.string))
            #expect(await failure { _ = try await keys("one") }?.place == file.string)
        }
    }

    @Test("a lookup that changes nothing writes nothing") func unchanged() async throws {
        for id in ["two", "one"] { _ = try await keys(id) }
        let before = try FileManager.default.attributesOfItem(atPath: file.string)[.systemFileNumber] as? Int
        for id in ["one", "two", "absent"] { _ = try await keys(id) }
        let after = try FileManager.default.attributesOfItem(atPath: file.string)[.systemFileNumber] as? Int
        #expect(before != nil && before == after)
    }

    @Test("a key that can't be kept is used all the same") func unwritable() async throws {
        let kept = try KeptKeys(
            of: service, in: FilePath("/nowhere/kept"), wrappedUnder: SecretBytes(copying: wrappingKey.span))
        #expect(try await !kept.keys(for: KeyID("one")).isEmpty)
    }

    @Test("a wrapping key has 32 bytes") func wrappingKeySize() async {
        let error = await failure {
            let kept = try KeptKeys(of: service, in: file, wrappedUnder: SecretBytes(randomLength: 16))
            _ = try await kept.keys(for: KeyID("one"))
        }
        #expect(error?.category == .key)
    }
}
