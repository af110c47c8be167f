/// What an entry of a pack is.
public enum PackEntryKind: UInt8, Sendable {
    /// An empty folder; all other folders follow from the paths.
    case emptyFolder = 0
    /// Mode 0644.
    case file = 1
    /// Mode 0755.
    case executable = 2
}
