import Testing
import VaultCrypto

/// All tasks share one key; run this under the thread sanitizer.
@Suite struct ConcurrencyTests {
    private final class Keys: Sendable {
        let message = SecretBytes(randomLength: 32)
        let signing = Ed25519PrivateKey()
    }

    @Test func keysAreSharedByConcurrentTasks() async throws {
        let keys = Keys()
        let info = message(5)
        let expected = try HKDF.expandSHA512(keys.message, info: info.span, count: 76).exposed
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<32 {
                group.addTask {
                    let bytes = message(40_000 + number)
                    let sealed = try Cobblestone256.seal(
                        bytes.span, salt: message(24), context: [], key: keys.message)
                    #expect(try Cobblestone256.open(sealed.span, context: [], key: keys.message) == bytes)
                    let signature = try keys.signing.sign(bytes.span)
                    let valid = keys.signing.publicKey.isValid(signature: signature.span, for: bytes.span)
                    #expect(valid)
                    #expect(
                        try HKDF.expandSHA512(keys.message, info: info.span, count: 76).exposed == expected)
                }
            }
            try await group.waitForAll()
        }
    }
}
