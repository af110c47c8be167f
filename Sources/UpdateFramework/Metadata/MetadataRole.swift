import VaultBytes

/// A role by its name: one of the four top-level roles, or one that targets are delegated to (section 2.1).
///
/// Names compare byte by byte. A delegated name may hold any characters; as a file's name it is percent-encoded
/// (RFC 3986), so it never leads out of a folder.
public struct MetadataRole: Sendable, CustomStringConvertible {
    public let name: String
    /// The file's name without its ending.
    private let encodedName: String

    public static let root = MetadataRole(.root)
    public static let timestamp = MetadataRole(.timestamp)
    public static let snapshot = MetadataRole(.snapshot)
    public static let targets = MetadataRole(.targets)

    public init(_ role: TopLevelRole) {
        name = role.rawValue
        encodedName = role.rawValue
    }

    /// Nil for the names of the top-level roles in upper or lower case, whose files would be one on some disks; for an empty
    /// one, and for one of more than 200 bytes when it is encoded: with a version and an ending it must remain a file's name.
    public init?(delegated name: String) {
        let encoded = PercentEncoding.encode(name)
        guard TopLevelRole(rawValue: encoded.lowercased()) == nil, (1...200).contains(encoded.utf8.count)
        else {
            return nil
        }
        self.name = name
        encodedName = encoded
    }

    /// Nil for a delegated role.
    public var topLevel: TopLevelRole? { TopLevelRole(rawValue: encodedName) }

    /// The `_type` of the role's metadata.
    public var type: TopLevelRole { topLevel ?? .targets }

    /// The name of the role's file inside metadata, such as `snapshot.json`.
    var listedName: String { "\(name).json" }

    /// The name of the role's file in a client's store, and at a host without consistent snapshots.
    public var fileName: String { "\(encodedName).json" }

    /// Of two roles with one such name the files are one where a disk ignores case.
    var caselessFileName: String { fileName.lowercased() }

    /// The name of one version's file at a host that keeps consistent snapshots, such as `7.snapshot.json`; the
    /// timestamp never has a version in its name (section 6.2.1).
    public func hostedName(version: Int64) -> String {
        topLevel == .timestamp ? fileName : "\(version).\(fileName)"
    }

    /// The most bytes that are read for the role, whatever its parent says.
    public var sizeLimit: Int { type.sizeLimit }

    public var description: String { name.beginning }
}

extension MetadataRole: Hashable, Comparable {
    public static func == (left: MetadataRole, right: MetadataRole) -> Bool {
        left.encodedName == right.encodedName
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(encodedName)
    }

    public static func < (left: MetadataRole, right: MetadataRole) -> Bool {
        left.encodedName < right.encodedName
    }
}
