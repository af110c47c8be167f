public import UpdateFramework

extension MetadataRole {
    static let allTopLevel = TopLevelRole.allCases.map { MetadataRole($0) }
    static let belowRoot: [MetadataRole] = [.timestamp, .snapshot, .targets]
    static let team: MetadataRole = "team"
}

extension MetadataRole: ExpressibleByStringLiteral {
    /// A delegated role with this name, which must be valid.
    public init(stringLiteral name: String) {
        self = MetadataRole(delegated: name)!
    }
}
