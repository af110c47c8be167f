import StrictJSON
public import VaultCrypto
public import VaultErrors

/// Metadata with signatures, ready to be written. The same content signed by the same keys always gives the
/// same bytes, in whatever order they signed.
public struct SignedMetadata: Sendable, Hashable {
    public let draft: MetadataDraft
    /// The file.
    public let bytes: [UInt8]
    private let signatures: [MetadataKeyID: [UInt8]]

    init(_ draft: MetadataDraft, signatures: [MetadataKeyID: [UInt8]]) {
        self.draft = draft
        self.signatures = signatures
        let list = signatures.sorted { $0.key.description < $1.key.description }.map { id, signature in
            JSONValue.object([
                "keyid": .string(id.description), "sig": .string(Hexadecimal.encode(signature)),
            ])
        }
        bytes = JSONValue.object(["signatures": .array(list), "signed": .object(draft.signed)]).pretty()
    }

    /// The metadata with one more signature.
    public func signed(with key: borrowing Ed25519PrivateKey) throws(VaultError) -> SignedMetadata {
        let signature = try key.sign(JSONValue.object(draft.signed).canonical().span)
        var signatures = signatures
        signatures[MetadataKeyID(of: key.publicKey)] = signature
        return SignedMetadata(draft, signatures: signatures)
    }

    /// The file's name at the host.
    public var hostedName: String {
        draft.role.hostedName(version: draft.version)
    }

    /// What the role above signs for this file.
    public var reference: MetadataReference {
        MetadataReference(version: draft.version, bytes: bytes)
    }
}

extension MetadataReference {
    /// What the role above signs for a file of this version.
    public init(version: Int64, bytes: [UInt8]) {
        self.init(version: version, length: UInt64(bytes.count), sha256: SHA256.hash(bytes.span))
    }
}

extension VerifiedMetadata {
    /// What the role above signs for this file, such as for a new timestamp over an old snapshot.
    public var reference: MetadataReference {
        MetadataReference(version: version, bytes: bytes)
    }
}
