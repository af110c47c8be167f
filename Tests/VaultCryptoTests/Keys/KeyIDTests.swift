import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("Key IDs") struct KeyIDTests {
    @Test(arguments: ["a", "-", "_", "development-only-do-not-ship", String(repeating: "Z", count: 64)])
    func accepted(_ text: String) throws {
        #expect(try KeyID(text).description == text)
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "a b", "a\0", "a\n", "ä", "a\u{308}", "Ａ", "a.jwk",
        String(repeating: "Z", count: 65),
    ])
    func refused(_ text: String) async {
        let error = await failure { _ = try KeyID(text) }
        #expect(error?.category == .key)
    }
}
