import StrictJSON
import Testing
import UpdateFramework
import VaultErrors

/// Signatures of several keys that come together from copies.
@Suite struct CoSigningTests {
    private let keys = [SigningKey(), SigningKey()]
    private var known: [MetadataKey] {
        RoleTrust(keys.map(\.publicKey), threshold: 2).keys
    }

    /// The first root, with these bytes as signatures.
    private func root(_ signatures: [String: [UInt8]]) throws -> UnverifiedMetadata {
        let bytes = try Repository().firstRoot
        var file = try JSONValue(parsing: bytes.span, place: "root").asObject(at: "root")
        file["signatures"] = .array(
            signatures.sorted { $0.key < $1.key }.map { id, signature in
                .object(["keyid": .string(id), "sig": .string(Self.hex(signature))])
            })
        return try UnverifiedMetadata(
            parsing: JSONValue.object(file).canonical(), as: .root, place: "2.root.json")
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Somebody without any key hands in junk under the ID of another's key: it blocks nobody, whoever comes first.
    @Test(arguments: [true, false]) func aJunkSignatureBlocksNobody(junkComesFirst: Bool) throws {
        let base = try root([:])
        let message = JSONValue.object(base.document.signed).canonical()
        let junk = [UInt8](repeating: 7, count: 64)
        func copy(_ signatures: [String: [UInt8]]) throws -> UnverifiedMetadata {
            var file: JSONObject = ["signed": .object(base.document.signed)]
            file["signatures"] = .array(
                signatures.map { .object(["keyid": .string($0), "sig": .string(Self.hex($1))]) })
            return try UnverifiedMetadata(
                parsing: JSONValue.object(file).canonical(), as: .root, place: "a copy")
        }
        let bad = try copy([keys[1].id: junk])
        let good = try copy([keys[1].id: keys[1].sign(message)])
        var file = SignedMetadata(try copy([keys[0].id: keys[0].sign(message)]))
        for next in junkComesFirst ? [bad, good] : [good, bad] {
            file = try file.merging(next, signedBy: known)
        }
        #expect(RoleTrust(keys.map(\.publicKey), threshold: 2).isMet(by: try file.unverified))
        // Only valid ones are kept.
        let junkOnly = try SignedMetadata(base).merging(copy([keys[1].id: junk]), signedBy: known)
        #expect(try junkOnly.unverified.keyIDs.isEmpty)
        let kept = SignedMetadata(bad).keeping(onlySignaturesOf: known)
        #expect(try kept.unverified.keyIDs.isEmpty)
    }
}
