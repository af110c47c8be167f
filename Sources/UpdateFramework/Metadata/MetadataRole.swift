import VaultBase

/// A top-level or delegated role, by its name (TUF section 2.1).
///
/// Names are compared by bytes. A delegated name may have any characters; as a file name it is percent-encoded (RFC
/// 3986), so it can't leave its folder.
public struct MetadataRole: Sendable, CustomStringConvertible {
    public let name: String
    /// The file name without its extension.
    private let encodedName: String

    public static let root = MetadataRole(.root)
    public static let timestamp = MetadataRole(.timestamp)
    public static let snapshot = MetadataRole(.snapshot)
    public static let targets = MetadataRole(.targets)

    public init(_ role: TopLevelRole) {
        name = role.rawValue
        encodedName = role.rawValue
    }

    /// Nil for the name of a top-level role in any case, as one file would be both on a disk that ignores case; for an
    /// empty name, and for more than 200 encoded bytes, as the file name also has a version and an extension.
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

    /// The name of the role's file in metadata, such as `snapshot.json`.
    var listedName: String { "\(name).json" }

    /// The name of the role's file in a client's store, and at a host without consistent snapshots.
    public var fileName: String { "\(encodedName).json" }

    /// ``fileName`` as case-insensitive disks compare it: roles for which it is equal share a file there.
    var caselessFileName: String { fileName.lowercased() }

    /// The name of one version's file at a host with consistent snapshots, such as `7.snapshot.json`; the timestamp has
    /// no version in its name (TUF section 6.2.1).
    public func hostedName(version: Int64) -> String {
        topLevel == .timestamp ? fileName : "\(version).\(fileName)"
    }

    /// The maximum size in bytes, whatever the metadata above it says.
    public var sizeLimit: Int {
        topLevel == nil && !OwnRoles.contains(self) ? Self.teamSizeLimit : type.sizeLimit
    }

    /// Every client of a site reads what its teams list: about 5,000 packs of 700 bytes each.
    private static let teamSizeLimit = 4_000_000

    public var description: String { name.excerpt }
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

/// The four top-level roles (TUF specification, section 2.1), in the order of verification.
public enum TopLevelRole: String, Sendable, Hashable, CaseIterable {
    case root, timestamp, snapshot, targets

    /// The maximum size in bytes, whatever the metadata above it says.
    public var sizeLimit: Int {
        switch self {
        case .root: 512_000
        case .timestamp: 16_384
        case .snapshot: 2_000_000
        case .targets: 64_000_000
        }
    }
}

/// The name of a file of metadata at a host, such as `7.targets.json`: the version, and the name that all versions share.
public struct MetadataFileName: Sendable, Hashable {
    public let version: Int64
    /// The name without the version, such as `targets.json`.
    public let unversionedName: String

    init(version: Int64, of role: MetadataRole) {
        (self.version, unversionedName) = (version, role.fileName)
    }

    public init?(hostedName: String) {
        guard hostedName.hasSuffix(".json"), let dot = hostedName.firstIndex(of: "."),
            let version = Int64(hostedName[..<dot]), version >= 1, JSONValue.integerRange.contains(version)
        else { return nil }
        self.version = version
        unversionedName = String(hostedName[hostedName.index(after: dot)...])
        // Such as `+7.targets.json`, which would be another file.
        guard self.hostedName == hostedName else { return nil }
    }

    /// The whole name.
    public var hostedName: String { "\(version).\(unversionedName)" }

    /// The role; nil if its name was percent-encoded: nothing decodes it here.
    public var role: MetadataRole? {
        let name = String(unversionedName.dropLast(".json".count))
        let role = TopLevelRole(rawValue: name).map { MetadataRole($0) } ?? MetadataRole(delegated: name)
        return role?.fileName == unversionedName ? role : nil
    }
}
