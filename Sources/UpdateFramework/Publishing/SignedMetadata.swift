public import VaultBase
public import VaultCrypto

/// Metadata with the signatures made so far, as a file. The same content and keys always give the same bytes, in
/// whatever order they signed.
public struct SignedMetadata: Sendable, Hashable {
    public let draft: MetadataDraft
    public let bytes: [UInt8]
    /// Several under one key ID until it is verified which one is valid.
    private let signatures: [MetadataKeyID: Set<[UInt8]>]

    /// A draft without any signature.
    public init(_ draft: MetadataDraft) {
        self.init(draft, signatures: [:])
    }

    /// Metadata written by others, with its signatures, valid or not.
    public init(_ metadata: UnverifiedMetadata) {
        draft = MetadataDraft(metadata.document)
        signatures = metadata.signatures.mapValues { Set($0) }
        // Unchanged, so that its hash in other metadata stays correct.
        bytes = metadata.document.bytes
    }

    private init(_ draft: MetadataDraft, signatures: [MetadataKeyID: Set<[UInt8]>]) {
        self.draft = draft
        self.signatures = signatures
        let list = signatures.sorted { $0.key.description < $1.key.description }.flatMap { id, candidates in
            candidates.map { Hexadecimal.encode($0) }.sorted().map { signature in
                JSONValue.object(["keyid": .string(id.description), "sig": .string(signature)])
            }
        }
        let file = JSONValue.object(["signatures": .array(list), "signed": .object(draft.signed)])
        // Files that are read often, and may be long, are compact; others are readable.
        let isShort = draft.role == .snapshot || draft.role.topLevel == nil
        bytes = isShort ? file.compact() : file.pretty()
    }

    /// Adds a signature under the key ID that the specification defines.
    public func signed(with key: borrowing Ed25519PrivateKey) throws(VaultError) -> SignedMetadata {
        try signed(with: key, as: [MetadataKey(VerifyingKey(key.publicKey)).id])
    }

    /// Adds a signature under each ID that was given to the key, in place of existing ones under that ID.
    public func signed(
        with key: borrowing Ed25519PrivateKey, as ids: [MetadataKeyID]
    ) throws(VaultError) -> SignedMetadata {
        let signature = try key.sign(JSONValue.object(draft.signed).canonical().span)
        var signatures = signatures
        for id in ids { signatures[id] = [signature] }
        return SignedMetadata(draft, signatures: signatures)
    }

    /// Adds the signatures of a copy, valid or not: which of several under one key ID is valid is decided where the
    /// keys are known, by ``keeping(onlyValidSignaturesOf:)``.
    ///
    /// - Throws: `untrusted` when the copy's content differs, or there would be too many signatures under one key ID.
    public func merging(_ copy: UnverifiedMetadata) throws(VaultError) -> SignedMetadata {
        guard JSONValue.object(draft.signed).canonical() == copy.signedBytes else {
            throw VaultError(
                .untrusted, "it is not a copy of \(hostedName): its content differs",
                at: copy.document.place, remedy: "sign the file that is to be published")
        }
        let merged = signatures.merging(copy.signatures.mapValues { Set($0) }) { $0.union($1) }
        if let crowded = merged.first(where: { $0.value.count > UnverifiedMetadata.candidateLimit }) {
            throw VaultError(
                .untrusted,
                "\(crowded.value.count) signatures would have the key ID \"\(crowded.key.description.excerpt)\"",
                at: copy.document.place,
                remedy:
                    "most of them are invalid: start with the file as 'publish' wrote it, and merge only copies from people you know"
            )
        }
        return SignedMetadata(draft, signatures: merged)
    }

    /// Keeps only the valid signatures of these keys: at most one under each key ID.
    public func keeping(onlyValidSignaturesOf keys: [MetadataKey]) -> SignedMetadata {
        let message = JSONValue.object(draft.signed).canonical()
        var kept: [MetadataKeyID: Set<[UInt8]>] = [:]
        for key in keys {
            let valid = signatures[key.id]?.first { key.key.isValid(signature: $0.span, for: message.span) }
            if let valid { kept[key.id] = [valid] }
        }
        return SignedMetadata(draft, signatures: kept)
    }

    /// The file's name at the host.
    public var hostedName: String {
        draft.role.hostedName(version: draft.version)
    }

    /// The entry for this file in the metadata above it.
    public var reference: MetadataReference {
        MetadataReference(version: draft.version, bytes: bytes)
    }

    /// The metadata as a file in `pending/`.
    public var pending: UnverifiedMetadata {
        get throws(VaultError) {
            try UnverifiedMetadata(parsingPending: bytes, as: draft.role, place: hostedName)
        }
    }

    /// The metadata as a client reads it. Throws `untrusted` while it has several signatures under one key ID.
    public var unverified: UnverifiedMetadata {
        get throws(VaultError) {
            try UnverifiedMetadata(parsing: bytes, as: draft.role, place: hostedName)
        }
    }
}

extension VerifiedMetadata {
    /// The entry for this file in the metadata above it, such as in a new timestamp for an old snapshot.
    public var reference: MetadataReference {
        MetadataReference(version: version, bytes: bytes)
    }
}
