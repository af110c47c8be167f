import Testing
import VaultBase
import VaultCrypto

@Suite struct SecretBytesTests {
    @Test(arguments: [0, 1, 32, 5_000]) func bytesAreCopied(count: Int) {
        let bytes = message(count)
        let kept = secret(bytes)
        let again = kept.copy()
        #expect(kept.count == count)
        #expect(kept.exposed == bytes)
        #expect(again.exposed == bytes)
    }

    @Test func randomSecretsDiffer() {
        let first = SecretBytes(randomLength: 32)
        let second = SecretBytes(randomLength: 32)
        #expect(first.count == 32)
        #expect(first.exposed != second.exposed)
        #expect(SecretBytes(randomLength: 0).exposed.isEmpty)
    }

    @Test func filledBytesAreKept() throws {
        let kept = try SecretBytes(capacity: 10) { room throws(VaultError) in
            #expect(room.count == 10)
            for index in 0..<4 { room[index] = UInt8(index) }
            return 4
        }
        #expect(kept.exposed == [0, 1, 2, 3])
    }

    @Test func fillErrorsAreThrown() {
        let category = failure { () throws(VaultError) in
            _ = try SecretBytes(capacity: 10) { _ throws(VaultError) in
                throw VaultError(.io, "nothing to read", at: "test", remedy: "none")
            }
        }
        #expect(category == .io)
    }

    @Test(
        arguments: [
            ([1, 2, 3], [1, 2, 3], true), ([1, 2, 3], [1, 2, 4], false), ([1, 2, 3], [0, 2, 3], false),
            ([1, 2, 3], [1, 2], false), ([], [0], false), ([], [], true),
        ] as [([UInt8], [UInt8], Bool)])
    func contentsAreCompared(a: [UInt8], b: [UInt8], equal: Bool) {
        let found = SecretBytes.constantTimeEqual(a.span, b.span)
        #expect(found == equal)
    }

    @Test func randomBytesHaveTheRequestedLength() throws {
        let first = try SecureRandom.bytes(24)
        #expect(first.count == 24)
        #expect(try SecureRandom.bytes(24) != first)
        #expect(try SecureRandom.bytes(0).isEmpty)
        #expect(failure { () throws(VaultError) in _ = try SecureRandom.bytes(-1) } == .usage)
        #expect(failure { () throws(VaultError) in _ = try SecureRandom.bytes(1 << 40) } == .usage)
    }
}
