import SealedPack
import Testing
import VaultBase

@Suite struct PackIDTests {
    static let long = [String](repeating: String(repeating: "a", count: 64), count: 7).joined(separator: "/")

    @Test(arguments: [
        "a", "0", "levels/one", "a.b", "a-b_c", "0.1.2", "a./b-/c_", "currents", "current.old", "x/currently",
        String(repeating: "a", count: 64), "\(long)/\(String(repeating: "b", count: 57))",
    ]) func allowed(_ text: String) throws {
        let id = try PackID(text)
        #expect(id.description == text)
        #expect(id.targetPath == "packs/\(text).avpack")
        #expect(PackID(targetPath: id.targetPath) == id)
    }

    @Test(arguments: [
        "", "/", "a/", "/a", "a//b", ".", "..", ".a", "-a", "_a", "a..b", "a/..", "a/b..", "a...b", "A", "aB",
        "ä", "a b",
        "a\\b", "a:b", "a%2e", "a\0", "a\n", "\u{61}\u{301}", "current", "a/current", "current/a",
        "a/current/b",
        String(repeating: "a", count: 65), "\(long)/\(String(repeating: "b", count: 58))",
    ]) func refused(_ text: String) async {
        await expectError(.usage) { try PackID(text) }
        #expect(PackID(targetPath: "packs/\(text).avpack") == nil)
    }

    @Test func lengths() throws {
        #expect(try PackID("\(Self.long)/\(String(repeating: "b", count: 57))").description.utf8.count == 512)
    }

    @Test(arguments: [
        "", "packs/", ".avpack", "packs/.avpack", "packs.avpack", "Packs/a.avpack", "packs/a", "a.avpack",
        "x/packs/a.avpack",
    ])
    func otherTargetPathsHaveNoID(_ path: String) {
        #expect(PackID(targetPath: path) == nil)
    }

    @Test func orderIsByteOrder() throws {
        let sorted = try ["a", "a-b", "a.b", "a/b", "a0", "a_b", "b"].map { try PackID($0) }
        #expect(sorted.reversed().sorted() == sorted)
    }
}
