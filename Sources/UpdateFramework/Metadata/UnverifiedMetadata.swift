public import VaultBase

/// A well-formed metadata file whose signatures are not verified: nothing in it is trusted.
public struct UnverifiedMetadata: Sendable {
    public let document: MetadataDocument
    /// The key IDs that have signatures, valid or not.
    public var keyIDs: Set<MetadataKeyID> { Set(signatures.keys) }
    /// By key ID; a signature that isn't hexadecimal is empty, and never valid. Only pending files may have several
    /// under one ID.
    let signatures: [MetadataKeyID: [[UInt8]]]
    /// The canonical form of the signed part, the message of the signatures.
    let signedBytes: [UInt8]

    /// - Parameters:
    ///   - bytes: the file.
    ///   - place: its name, for messages.
    /// - Throws: `untrusted` for anything malformed: invalid JSON, a wrong type or specification, missing members, two
    ///   signatures under one key ID.
    public init(parsing bytes: [UInt8], as role: MetadataRole, place: String) throws(VaultError) {
        try self.init(parsing: bytes, as: role, signaturesPerKey: 1, place: place)
    }

    /// Parses a file that waits for signatures. On its way anyone may add an invalid signature under any key ID, so
    /// several per ID are kept until the key is known.
    public init(parsingPending bytes: [UInt8], as role: MetadataRole, place: String) throws(VaultError) {
        try self.init(parsing: bytes, as: role, signaturesPerKey: Self.candidateLimit, place: place)
    }

    /// The maximum number of signatures under one key ID while it is unknown which of them is valid.
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
                throw .malformedMetadata(
                    "\(limit == 1 ? "two" : "\(limit + 1)") signatures have the key ID \"\(id.description.excerpt)\"",
                    at: place)
            }
        }
        return signatures
    }
}

extension UnverifiedMetadata {
    /// Parses a file of any role that waits for signatures. Targets are the top-level ones unless the file's name, such
    /// as `3.dlc1.json`, has another role, since only the name shows it.
    ///
    /// - Parameter place: the file's path.
    public init(parsingAnyPending bytes: [UInt8], place: String) throws(VaultError) {
        var named = MetadataRole.targets
        if let name = place.utf8.split(separator: UInt8(ascii: "/")).last.map({ String(Substring($0)) }),
            let role = MetadataFileName(hostedName: name)?.role
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

/// The common part of all metadata (TUF section 4.3): the bytes as received, and the signed part.
public struct MetadataDocument: Sendable, Hashable {
    public let role: MetadataRole
    /// The file, exactly as received; stores save these bytes.
    public let bytes: [UInt8]
    /// The whole signed part, members unknown to this library included.
    public let signed: JSONObject
    /// At least 1.
    public let version: Int64
    public let expires: UTCTime
    /// The file's name, for messages.
    let place: String

    /// The file's name at a host with consistent snapshots.
    public var hostedName: String { role.hostedName(version: version) }

    /// The same name, also of the timestamp with the version.
    public var fileName: MetadataFileName { MetadataFileName(version: version, of: role) }

    /// Parses the common members and checks the role and that it is TUF 1.x.
    init(_ role: MetadataRole, bytes: [UInt8], signed: JSONObject, place: String) throws(VaultError) {
        let type = try signed.string("_type", at: place)
        guard type.utf8.elementsEqual(role.type.rawValue.utf8) else {
            throw .malformedMetadata(
                "it is of type \"\(type.excerpt)\" where \(role.type.rawValue) is expected", at: place)
        }
        let specification = try signed.string("spec_version", at: place)
        guard Self.isSupported(specification) else {
            throw VaultError(
                .untrusted, "it follows TUF \"\(specification.excerpt)\" where 1.x.y is expected",
                at: place,
                remedy: "update this program, or ask the site's owner for TUF 1.0 metadata")
        }
        let version = try signed.version(at: place)
        let moment = try signed.string("expires", at: place)
        guard let expires = UTCTime(moment) else {
            throw .malformedMetadata(
                "its expiry \"\(moment.excerpt)\" does not have the form YYYY-MM-DDTHH:MM:SSZ", at: place)
        }
        self.role = role
        self.bytes = bytes
        self.signed = signed
        self.version = version
        self.expires = expires
        self.place = place
    }

    /// Semantic versions with major version 1; older files have only two numbers.
    private static func isSupported(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return (2...3).contains(parts.count) && parts[0].elementsEqual("1".utf8)
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}
