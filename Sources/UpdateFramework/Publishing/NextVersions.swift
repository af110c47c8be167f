import StrictJSON

/// Which version each role's next metadata gets: one above every version that there is a file of.
///
/// Where a thief of keys has taken the last number of all, one above every version in the lower half of all numbers: that one
/// is free. Clients that have seen the last number believe it only after they have forgotten that
/// (``VerifiedRoot/resetsVersions(since:)``).
public struct NextVersions: Sendable {
    /// The last number that metadata may have, 2^53 - 1.
    public static let last = JSONValue.integerRange.upperBound
    private static let half = last / 2

    /// By the name of a role's file.
    private var highest: [String: Int64] = [:]
    private var highestInLowerHalf: [String: Int64] = [:]

    public subscript(role: MetadataRole) -> Int64 {
        let name = role.fileName
        let version = highest[name] ?? 0
        return (version < Self.last ? version : highestInLowerHalf[name] ?? 0) + 1
    }

    mutating func add(_ version: Int64, of fileName: String) {
        highest[fileName] = max(version, highest[fileName] ?? 0)
        guard version <= Self.half else { return }
        highestInLowerHalf[fileName] = max(version, highestInLowerHalf[fileName] ?? 0)
    }
}
