import StrictJSON
public import VaultCrypto
public import VaultErrors

/// Metadata with as many signatures as it has yet, in the form of a metadata file. The same content signed by the same
/// keys always gives the same bytes, in whatever order they signed.
public struct SignedMetadata: Sendable, Hashable {
    public let draft: MetadataDraft
    /// The file.
    public let bytes: [UInt8]
    private let signatures: [MetadataKeyID: [UInt8]]

    /// What is to be signed, without any signature.
    public init(_ draft: MetadataDraft) {
        self.init(draft, signatures: [:])
    }

    /// Metadata that others wrote, with the signatures that it has, valid or not.
    public init(_ metadata: UnverifiedMetadata) {
        draft = MetadataDraft(metadata.document)
        signatures = metadata.signatures
        // As they are, so that what others list by its hash stays what it is.
        bytes = metadata.document.bytes
    }

    private init(_ draft: MetadataDraft, signatures: [MetadataKeyID: [UInt8]]) {
        self.draft = draft
        self.signatures = signatures
        let list = signatures.sorted { $0.key.description < $1.key.description }.map { id, signature in
            JSONValue.object([
                "keyid": .string(id.description), "sig": .string(Hexadecimal.encode(signature)),
            ])
        }
        let file = JSONValue.object(["signatures": .array(list), "signed": .object(draft.signed)])
        // What is read often, and may list thousands, is short; the rest is for people, too.
        let isShort = draft.role == .snapshot || draft.role.topLevel == nil
        bytes = isShort ? file.compact() : file.pretty()
    }

    /// The metadata with one more signature, under the ID that the specification defines for the key.
    public func signed(with key: borrowing Ed25519PrivateKey) throws(VaultError) -> SignedMetadata {
        try signed(with: key, as: [MetadataKey(VerifyingKey(key.publicKey)).id])
    }

    /// The metadata with one more signature, under each ID that somebody named the key by.
    public func signed(
        with key: borrowing Ed25519PrivateKey, as ids: [MetadataKeyID]
    ) throws(VaultError) -> SignedMetadata {
        let signature = try key.sign(JSONValue.object(draft.signed).canonical().span)
        var signatures = signatures
        for id in ids { signatures[id] = signature }
        return SignedMetadata(draft, signatures: signatures)
    }

    /// The metadata with the signatures that a copy of it got elsewhere.
    ///
    /// - Parameter keys: keys that may have signed. Of two signatures under the ID of one of them the valid one counts, and
    ///   an invalid one is left out: nobody without a key can stand in the way of those who have one.
    /// - Throws: `untrusted` when the copy says anything else than this.
    public func merging(
        _ copy: UnverifiedMetadata, signedBy keys: [MetadataKey] = []
    ) throws(VaultError) -> SignedMetadata {
        guard JSONValue.object(draft.signed).canonical() == copy.signedBytes else {
            throw VaultError(
                .untrusted, "it is no copy of \(hostedName): it says something else",
                at: copy.document.place, remedy: "sign the file that is to be published")
        }
        var merged = signatures.merging(copy.signatures) { mine, _ in mine }
        for key in keys {
            let both = [signatures[key.id], copy.signatures[key.id]].compactMap(\.self)
            merged[key.id] = both.first { isValid($0, of: key) }
        }
        return SignedMetadata(draft, signatures: merged)
    }

    /// The metadata with the valid signatures of these keys, and no others.
    public func keeping(onlySignaturesOf keys: [MetadataKey]) -> SignedMetadata {
        var kept: [MetadataKeyID: [UInt8]] = [:]
        for key in keys {
            if let signature = signatures[key.id], isValid(signature, of: key) { kept[key.id] = signature }
        }
        return SignedMetadata(draft, signatures: kept)
    }

    private func isValid(_ signature: [UInt8], of key: MetadataKey) -> Bool {
        key.key.isValid(signature: signature.span, for: JSONValue.object(draft.signed).canonical().span)
    }

    /// The file's name at the host.
    public var hostedName: String {
        draft.role.hostedName(version: draft.version)
    }

    /// What the role above signs for this file.
    public var reference: MetadataReference {
        MetadataReference(version: draft.version, bytes: bytes)
    }

    /// The metadata as a reader gets it.
    public var unverified: UnverifiedMetadata {
        get throws(VaultError) {
            try UnverifiedMetadata(parsing: bytes, as: draft.role, place: hostedName)
        }
    }
}

extension VerifiedMetadata {
    /// What the role above signs for this file, such as for a new timestamp over an old snapshot.
    public var reference: MetadataReference {
        MetadataReference(version: version, bytes: bytes)
    }
}
