import StrictJSON
import VaultBytes
public import VaultErrors

/// A metadata file whose form is right and whose signatures nobody has looked at: believe nothing of it.
public struct UnverifiedMetadata: Sendable {
    public let document: MetadataDocument
    /// Under which IDs of keys there are signatures, valid or not.
    public var keyIDs: Set<MetadataKeyID> { Set(signatures.keys) }
    /// By key ID; a signature that isn't hexadecimal is kept as empty, and never holds. Only what waits for signatures has
    /// several under one ID.
    let signatures: [MetadataKeyID: [[UInt8]]]
    /// The canonical form of the signed part, which the signatures are over.
    let signedBytes: [UInt8]

    /// - Parameters:
    ///   - bytes: the file.
    ///   - place: its name, for messages.
    /// - Throws: ``VaultErrors/VaultError`` of category `untrusted` for anything malformed: JSON that isn't
    ///   strict, a wrong type or specification, missing members, two signatures under one key ID.
    public init(parsing bytes: [UInt8], as role: MetadataRole, place: String) throws(VaultError) {
        try self.init(parsing: bytes, as: role, signaturesPerKey: 1, place: place)
    }

    /// Reads what waits for signatures. It travels, and anyone may add an invalid signature under the ID of any key: the
    /// valid one must have a place beside it. Which one is valid is known where the key is known.
    public init(parsingPending bytes: [UInt8], as role: MetadataRole, place: String) throws(VaultError) {
        try self.init(parsing: bytes, as: role, signaturesPerKey: Self.candidateLimit, place: place)
    }

    /// How many signatures under one key ID are kept while it is unknown which of them is valid.
    static let candidateLimit = 16

    private init(
        parsing bytes: [UInt8], as role: MetadataRole, signaturesPerKey limit: Int, place: String
    ) throws(VaultError) {
        do throws(VaultError) {
            let envelope = try JSONValue(parsing: bytes.span, place: place).asObject(at: place)
            let signed = try envelope.object("signed", at: place)
            document = try MetadataDocument(role, bytes: bytes, signed: signed, place: place)
            signatures = try Self.signatures(
                try envelope.array("signatures", at: place), perKey: limit, place: place)
            signedBytes = JSONValue.object(signed).canonical()
        } catch {
            throw error.asUntrusted
        }
    }

    private static func signatures(
        _ list: [JSONValue], perKey limit: Int, place: String
    ) throws(VaultError) -> [MetadataKeyID: [[UInt8]]] {
        var signatures: [MetadataKeyID: [[UInt8]]] = [:]
        for entry in list {
            let entry = try entry.asObject(at: place)
            let id = MetadataKeyID(try entry.string("keyid", at: place))
            let signature = Hexadecimal.decode(try entry.string("sig", at: place)) ?? []
            signatures[id, default: []].append(signature)
            guard signatures[id, default: []].count <= limit else {
                throw .untrusted(
                    "\(limit == 1 ? "two" : "\(limit + 1)") signatures have the key ID \"\(id.description.beginning)\"",
                    at: place)
            }
        }
        return signatures
    }
}

extension UnverifiedMetadata {
    /// Reads what waits for signatures, of whatever role. That of targets is the top-level one unless the file's name, such
    /// as `3.dlc1.json`, says another; the role's name stands nowhere else.
    ///
    /// - Parameter place: the file's path.
    public init(parsingAnyPending bytes: [UInt8], place: String) throws(VaultError) {
        var named = MetadataRole.targets
        if let name = place.utf8.split(separator: UInt8(ascii: "/")).last.map({ String(Substring($0)) }),
            let role = MetadataVersion(hostedName: name)?.role
        {
            named = role
        }
        do throws(VaultError) {
            let envelope = try JSONValue(parsing: bytes.span, place: place).asObject(at: place)
            let type = try envelope.object("signed", at: place).string("_type", at: place)
            let role = TopLevelRole(rawValue: type).map { MetadataRole($0) } ?? named
            try self.init(parsingPending: bytes, as: role == .targets ? named : role, place: place)
        } catch {
            throw error.asUntrusted
        }
    }
}
