import StrictJSON

/// The name of a file of metadata at a host, such as `7.targets.json`: the version, and the name that all versions share.
public struct MetadataFileName: Sendable, Hashable {
    public let version: Int64
    /// The name without the version, such as `targets.json`.
    public let unversionedName: String

    public init?(hostedName: String) {
        guard hostedName.hasSuffix(".json"), let dot = hostedName.firstIndex(of: "."),
            let version = Int64(hostedName[..<dot]), version >= 1, JSONValue.integerRange.contains(version)
        else { return nil }
        self.version = version
        unversionedName = String(hostedName[hostedName.index(after: dot)...])
    }

    /// The whole name.
    public var hostedName: String { "\(version).\(unversionedName)" }

    /// The role; nil if its name needs percent-encoding.
    public var role: MetadataRole? {
        let name = String(unversionedName.dropLast(".json".count))
        let role = TopLevelRole(rawValue: name).map { MetadataRole($0) } ?? MetadataRole(delegated: name)
        return role?.fileName == unversionedName ? role : nil
    }
}
