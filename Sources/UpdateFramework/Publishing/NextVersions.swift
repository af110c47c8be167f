import StrictJSON

/// The next version of each role: one above all existing files, and above what the published snapshot lists: clients refuse a lower
/// version also of a role whose files are gone.
///
/// If an attacker with stolen keys used the highest possible version, it is one above the versions in the lower half of
/// the range, which is free. Clients that saw the highest version accept it only after they forgot it
/// (``VerifiedRoot/resetsVersions(since:)``).
public struct NextVersions: Sendable {
    /// The highest possible version, 2^53 - 1.
    public static let highestPossible = JSONValue.integerRange.upperBound
    private static let half = highestPossible / 2

    /// By file name.
    private var highest: [String: Int64] = [:]
    private var highestInLowerHalf: [String: Int64] = [:]

    public subscript(role: MetadataRole) -> Int64 {
        let name = role.fileName
        let version = highest[name] ?? 0
        return (version < Self.highestPossible ? version : highestInLowerHalf[name] ?? 0) + 1
    }

    /// Counts all that a snapshot lists.
    public mutating func add(_ snapshot: VerifiedSnapshot) {
        for (name, version) in snapshot.listedVersions { add(version, of: name) }
    }

    /// Counts a number that is taken elsewhere.
    public mutating func add(_ file: MetadataFileName) {
        add(file.version, of: file.unversionedName)
    }

    mutating func add(_ version: Int64, of fileName: String) {
        highest[fileName] = max(version, highest[fileName] ?? 0)
        guard version <= Self.half else { return }
        highestInLowerHalf[fileName] = max(version, highestInLowerHalf[fileName] ?? 0)
    }
}
