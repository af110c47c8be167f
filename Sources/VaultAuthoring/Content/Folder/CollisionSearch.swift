import SealedPack
import VaultBase

/// Finds entries whose different names collide on a file system that ignores case or normalisation.
///
/// Only folders may collide, as their contents are merged: `Map` and `map/a` can't both exist.
struct CollisionSearch {
    /// Stores only the hash of a key; for equal hashes the keys are compared.
    private struct Candidate {
        var hash: Int
        /// An entry itself, or one of the folders above it.
        var entry: Int32
        var count: UInt16
        var isFolderAbove: Bool
    }

    /// Throws `.corrupt`, naming both paths, if any two entries collide.
    ///
    /// - Parameter entries: Sorted by bytes, without exact duplicates.
    static func check(_ entries: SourceFolder.Entries, of folder: String) throws(VaultError) {
        var candidates: [Candidate] = []
        candidates.reserveCapacity(entries.count)
        var previous: [UInt8] = []
        for (index, entry) in entries.enumerated() {
            let path = entry.path.utf8Bytes
            // Sorted, so entries below a folder are adjacent, and each folder is added once.
            let common = zip(path, previous).prefix { $0 == $1 }.count
            for slash in path.indices.dropFirst(common) where path[slash] == UInt8(ascii: "/") {
                let hash = EntryPath(checked: Array(path[..<slash])).collisionKey.hashValue
                candidates.append(
                    Candidate(
                        hash: hash, entry: Int32(index), count: UInt16(slash), isFolderAbove: true))
            }
            let hash = entry.path.collisionKey.hashValue
            candidates.append(
                Candidate(
                    hash: hash, entry: Int32(index), count: UInt16(path.count), isFolderAbove: false))
            previous = path
        }
        candidates.sort { ($0.hash, $0.entry) < ($1.hash, $1.entry) }

        for (one, other) in zip(candidates, candidates.dropFirst())
        where one.hash == other.hash && !(one.isFolderAbove && other.isFolderAbove) {
            let paths = [one, other].map {
                EntryPath(checked: Array(entries[Int($0.entry)].path.utf8Bytes[..<Int($0.count)]))
            }
            guard paths[0].collisionKey == paths[1].collisionKey else { continue }
            throw VaultError(
                .corrupt, "differs from '\(paths[0])' only by letter case or Unicode normalisation",
                at: "\(folder): entry '\(paths[1])'", remedy: "rename one of the two")
        }
    }
}
