public import VaultBase

/// Selects the files of a source: those that match an `include` pattern (all, if there are none) and no `exclude`
/// pattern; see ``PathPattern``.
public struct SourceFilter: Sendable, Hashable {
    private let include: PathPatternIndex
    private let exclude: PathPatternIndex

    /// Throws `.usage` for an empty or unsupported pattern.
    public init(include: [String], exclude: [String]) throws(VaultError) {
        self.include = PathPatternIndex(
            try include.map { text throws(VaultError) in try PathPattern(text) })
        self.exclude = PathPatternIndex(
            try exclude.map { text throws(VaultError) in try PathPattern(text) })
    }

    public static let all = SourceFilter()

    private init() {
        include = PathPatternIndex([])
        exclude = PathPatternIndex([])
    }

    /// Whether `name` in `folder` (empty, or with a final slash) is excluded, with everything below it.
    func excludes(_ folder: [UInt8], _ name: [UInt8]) -> Bool {
        !exclude.isEmpty && exclude.hasMatch(folder + name)
    }

    /// Whether a file or empty folder that is not excluded is included.
    func includes(_ folder: [UInt8], _ name: [UInt8]) -> Bool {
        include.isEmpty || include.hasMatch(folder + name)
    }
}
