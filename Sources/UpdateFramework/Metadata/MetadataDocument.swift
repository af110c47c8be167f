public import StrictJSON
import VaultErrors

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
