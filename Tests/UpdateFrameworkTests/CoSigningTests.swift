import Testing
import UpdateFramework
import VaultBase

/// Signatures of several keys merged from copies, while the keys are unknown.
@Suite struct CoSigningTests {
    private let keys = [SigningKey(), SigningKey()]
    private let trust: RoleTrust
    private let signed: JSONObject

    init() throws {
        trust = RoleTrust(keys.map(\.publicKey), threshold: 2)
        let root = try Repository().firstRoot
        signed = try JSONValue(parsing: root.span, place: "root").asObject(at: "root").object(
            "signed", at: "root")
    }

    private func signature(_ index: Int) -> (String, [UInt8]) {
        (keys[index].id, keys[index].sign(JSONValue.object(signed).canonical()))
    }

    private func junk(_ index: Int, _ byte: UInt8) -> (String, [UInt8]) {
        (keys[index].id, [UInt8](repeating: byte, count: 64))
    }

    private func file(_ signatures: [(String, [UInt8])]) -> [UInt8] {
        let list = signatures.map { id, signature in
            JSONValue.object([
                "keyid": .string(id),
                "sig": .string(signature.hexadecimal),
            ])
        }
        return JSONValue.object(["signatures": .array(list), "signed": .object(signed)]).canonical()
    }

    private func copy(_ signatures: [(String, [UInt8])]) throws -> UnverifiedMetadata {
        try UnverifiedMetadata(parsingPending: file(signatures), as: .root, place: "a copy")
    }

    /// Somebody without a key submits an invalid signature under another's key ID: it does not block the valid one, in
    /// either order, and what is published has one signature per key.
    @Test(arguments: [true, false]) func invalidSignatureDoesNotBlockTheValidOne(junkComesFirst: Bool) throws
    {
        let bad = try copy([junk(1, 7)])
        let good = try copy([signature(1)])
        var waiting = SignedMetadata(try copy([signature(0)]))
        for next in junkComesFirst ? [bad, good] : [good, bad] { waiting = try waiting.merging(next) }
        #expect(trust.isMet(by: try waiting.pending))
        #expect(throws: VaultError.self) { try waiting.unverified }
        let complete = waiting.keeping(onlyValidSignaturesOf: trust.keys)
        #expect(trust.isMet(by: try complete.unverified))
        #expect(
            try complete.bytes
                == SignedMetadata(copy([signature(0)])).merging(copy([signature(1)]))
                .keeping(onlyValidSignaturesOf: trust.keys).bytes)
        #expect(try SignedMetadata(bad).keeping(onlyValidSignaturesOf: trust.keys).unverified.keyIDs.isEmpty)
    }

    /// The invalid signature is in the file itself, before the copy that the key signed.
    @Test func fileMayAlreadyHaveAnInvalidSignature() throws {
        let waiting = try SignedMetadata(copy([junk(0, 1), junk(0, 2), junk(1, 3)]))
        let signed = try waiting.merging(copy([signature(0)])).merging(copy([signature(1)]))
        #expect(trust.isMet(by: try signed.pending))
        #expect(try signed.keeping(onlyValidSignaturesOf: trust.keys).unverified.keyIDs.count == 2)
    }

    /// The number of signatures per key is limited; a copy that exceeds it is refused.
    @Test func signaturesPerKeyAreLimited() throws {
        let full = try SignedMetadata(copy((0..<15).map { junk(1, $0) })).merging(copy([signature(1)]))
        #expect(try full.pending.keyIDs.count == 1)
        // An identical signature is not counted again.
        #expect(try full.merging(full.pending) == full)
        #expect(throws: VaultError.self) { try full.merging(copy([junk(1, 99)])) }
        #expect(throws: VaultError.self) { try copy((0..<17).map { junk(1, $0) }) }
    }

    /// Published metadata have unique key IDs, as the specification requires.
    @Test func publishedMetadataHasOneSignaturePerKey() throws {
        for second in [signature(1), junk(1, 1)] {
            let bytes = file([signature(1), second])
            #expect(throws: VaultError.self) {
                try UnverifiedMetadata(parsing: bytes, as: .root, place: "2.root.json")
            }
        }
    }
}
