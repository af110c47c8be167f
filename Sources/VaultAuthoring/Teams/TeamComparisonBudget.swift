import SealedPack
import VaultErrors

/// How much of what teams deliver is compared with other packs: a team decides neither the memory nor the time of a plan.
struct TeamComparisonBudget {
    /// The most files of one path; more of them are not compared with one another.
    static let filesPerPath = 64
    /// About 200 bytes each are kept in memory.
    private static let fileLimit = 1 << 18
    /// Bytes of sealed catalogs. They may unpack to 16 times as much, and the paths in them are kept in memory. 8 MiB are enough
    /// for about 25 GiB of packs, or 300,000 files.
    private static let catalogLimit: UInt64 = 8 << 20
    /// Pairs of files with one path, of which each is remembered until it is decided.
    private static let pairLimit = 1 << 18
    /// Bytes that are opened to compare files of one size: some seconds of work.
    private static let openedLimit: UInt64 = 1 << 30

    private var files = 0
    private var pairs = 0
    private var catalogBytes: UInt64 = 0
    private var openedBytes: UInt64 = 0
    private var skippedPacks = 0
    private var skippedFiles = 0

    /// Takes the files of a pack; false, and counts the pack as skipped, where there are too many.
    mutating func take(_ pack: PackManifest) -> Bool {
        let entries = Int(pack.entryCount)
        guard entries <= Self.fileLimit - files, pack.catalogLength <= Self.catalogLimit - catalogBytes else {
            skippedPacks += 1
            return false
        }
        files += entries
        catalogBytes += pack.catalogLength
        return true
    }

    /// Takes a pair of files with one path; false where there were too many.
    mutating func takePair() -> Bool {
        guard pairs < Self.pairLimit else { return false }
        pairs += 1
        return true
    }

    /// A file that is not compared with all others of its path.
    mutating func skipFile() { skippedFiles += 1 }

    /// Takes a number of bytes that are opened; false, and counts the file as skipped, where there were too many.
    mutating func takeBytes(_ count: UInt64) -> Bool {
        guard count <= Self.openedLimit - openedBytes else {
            skippedFiles += 1
            return false
        }
        openedBytes += count
        return true
    }

    /// What was not compared; nil where everything was.
    var finding: Finding? {
        guard skippedPacks > 0 || skippedFiles > 0 else { return nil }
        let skipped = [
            skippedPacks == 0 ? nil : skippedPacks.counting("pack"),
            skippedFiles == 0 ? nil : skippedFiles.counting("file"),
        ]
        return .warning(
            "uncompared-packs",
            "\(skipped.compactMap(\.self).joined(separator: " and ")) of teams were not compared with the other packs: all of their packs with granted tags have more than \(Self.fileLimit) files, \(Self.catalogLimit >> 20) MiB of file lists, \(Self.filesPerPath) files of one path, \(Self.pairLimit) pairs of such files, or \(Self.openedLimit >> 30) GiB of files with the path and size of another",
            at: "teams",
            remedy: "grant tags to fewer packs, or let the teams divide their content into fewer files")
    }
}
