import StrictJSON
import VaultBytes
public import VaultCrypto
public import VaultErrors

/// Metadata with as many signatures as it has yet, in the form of a metadata file. The same content signed by the same
/// keys always gives the same bytes, in whatever order they signed.
public struct SignedMetadata: Sendable, Hashable {
    public let draft: MetadataDraft
    /// The file.
    public let bytes: [UInt8]
    /// Several under one key ID while nobody has verified which of them is valid.
    private let signatures: [MetadataKeyID: Set<[UInt8]>]

    /// What is to be signed, without any signature.
    public init(_ draft: MetadataDraft) {
        self.init(draft, signatures: [:])
    }

    /// Metadata that others wrote, with the signatures that it has, valid or not.
    public init(_ metadata: UnverifiedMetadata) {
        draft = MetadataDraft(metadata.document)
        signatures = metadata.signatures.mapValues { Set($0) }
        // As they are, so that what others list by its hash stays what it is.
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
        // What is read often, and may list thousands, is short; the rest is for people, too.
        let isShort = draft.role == .snapshot || draft.role.topLevel == nil
        bytes = isShort ? file.compact() : file.pretty()
    }

    /// The metadata with one more signature, under the ID that the specification defines for the key.
    public func signed(with key: borrowing Ed25519PrivateKey) throws(VaultError) -> SignedMetadata {
        try signed(with: key, as: [MetadataKey(VerifyingKey(key.publicKey)).id])
    }

    /// The metadata with one more signature, under each ID that somebody named the key by, instead of whatever was there
    /// under that ID.
    public func signed(
        with key: borrowing Ed25519PrivateKey, as ids: [MetadataKeyID]
    ) throws(VaultError) -> SignedMetadata {
        let signature = try key.sign(JSONValue.object(draft.signed).canonical().span)
        var signatures = signatures
        for id in ids { signatures[id] = [signature] }
        return SignedMetadata(draft, signatures: signatures)
    }

    /// The metadata with the signatures that a copy of it got elsewhere, valid or not: which of several under one key ID is
    /// valid is decided where the keys are known, by ``keeping(onlyValidSignaturesOf:)``.
    ///
    /// - Throws: `untrusted` when the copy says anything else than this, or both have too many signatures under one key ID.
    public func merging(_ copy: UnverifiedMetadata) throws(VaultError) -> SignedMetadata {
        guard JSONValue.object(draft.signed).canonical() == copy.signedBytes else {
            throw VaultError(
                .untrusted, "it is no copy of \(hostedName): it says something else",
                at: copy.document.place, remedy: "sign the file that is to be published")
        }
        let merged = signatures.merging(copy.signatures.mapValues { Set($0) }) { $0.union($1) }
        if let crowded = merged.first(where: { $0.value.count > UnverifiedMetadata.candidateLimit }) {
            throw VaultError(
                .untrusted,
                "with it \(crowded.value.count) signatures would have the key ID \"\(crowded.key.description.beginning)\"",
                at: copy.document.place,
                remedy:
                    "most of them are invalid: begin with the file as 'publish' wrote it, and merge only copies of people whom you know"
            )
        }
        return SignedMetadata(draft, signatures: merged)
    }

    /// The metadata with the valid signatures of these keys and no others: at most one under each key ID.
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

    /// What the role above signs for this file.
    public var reference: MetadataReference {
        MetadataReference(version: draft.version, bytes: bytes)
    }

    /// The metadata as it waits for signatures.
    public var pending: UnverifiedMetadata {
        get throws(VaultError) {
            try UnverifiedMetadata(parsingPending: bytes, as: draft.role, place: hostedName)
        }
    }

    /// The metadata as a reader gets it. Throws `untrusted` where it still has several signatures under one key ID.
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
