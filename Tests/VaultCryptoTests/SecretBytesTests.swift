import Testing
import VaultCrypto
import VaultErrors

@Suite struct SecretBytesTests {
    @Test(arguments: [0, 1, 32, 5_000]) func keepsACopy(count: Int) {
        let bytes = message(count)
        let kept = secret(bytes)
        let again = kept.copy()
        #expect(kept.count == count)
        #expect(kept.exposed == bytes)
        #expect(again.exposed == bytes)
    }

    @Test func randomSecretsDiffer() {
        let first = SecretBytes(randomCount: 32)
        let second = SecretBytes(randomCount: 32)
        #expect(first.count == 32)
        #expect(first.exposed != second.exposed)
        #expect(SecretBytes(randomCount: 0).exposed.isEmpty)
    }

    @Test func keepsWhatWasFilled() throws {
        let kept = try SecretBytes(capacity: 10) { room throws(VaultError) in
            #expect(room.count == 10)
            for index in 0..<4 { room[index] = UInt8(index) }
            return 4
        }
        #expect(kept.exposed == [0, 1, 2, 3])
    }

    @Test func aFailureToFillComesOut() {
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
    func comparesContent(a: [UInt8], b: [UInt8], equal: Bool) {
        let found = SecretBytes.constantTimeEqual(a.span, b.span)
        #expect(found == equal)
    }

    @Test func publicRandomBytesHaveTheirCount() throws {
        let first = try SecureRandom.bytes(24)
        #expect(first.count == 24)
        #expect(try SecureRandom.bytes(24) != first)
        #expect(try SecureRandom.bytes(0).isEmpty)
        #expect(failure { () throws(VaultError) in _ = try SecureRandom.bytes(-1) } == .usage)
        #expect(failure { () throws(VaultError) in _ = try SecureRandom.bytes(1 << 40) } == .usage)
    }
}
