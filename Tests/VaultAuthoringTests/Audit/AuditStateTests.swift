import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

@testable import VaultAuthoring

@Suite struct AuditStateTests {
    private func pack() throws -> AuditState.Pack {
        AuditState.Pack(digest: SHA256.hash([1].span), path: "packs/a.avpack", length: 1, seen: .now)
    }

    /// What was damaged or missing stays so until its bytes are read.
    @Test(arguments: [VaultError.Category.corrupt, .notHosted])
    func aHostThatFailsHidesNothing(_ category: VaultError.Category) throws {
        var pack = try pack()
        func note(_ category: VaultError.Category) {
            pack.note(
                [VaultError(category, "it is not as listed", at: "a", remedy: "repair it")], withKeys: false,
                at: .now)
        }
        note(.unavailable)
        #expect(pack.result == .unread)
        note(category)
        let found = pack.result
        note(.unavailable)
        #expect(found != .unread && pack.result == found)
        pack.note([], withKeys: false, at: .now)
        #expect(pack.result == .sound)
    }
}
