import SystemPackage
public import VaultBase
import VaultCrypto
import VaultFileSystem

/// What a pack that is about to be opened takes from trees that are here, such as that of its earlier version: unchanged files are
/// linked, and of changed files the unchanged pieces are copied.
///
/// A file is unchanged if its kind, its size and its parts of pieces are those of a file of a tree, at any path. Files are linked only
/// from trees of which nothing has changed since they were written; every piece that is copied is verified by the pack's catalog.
/// Memory: the catalogs of the trees, 16 bytes for each of their files, and 12 for each file and each piece of the pack.
public struct TreeBasis: Sendable {
    private let trees: [OpenedTree]
    /// For each file of the pack the same file in one of the trees.
    private let files: [Place?]
    /// For each piece of the pack the same piece in one of the trees.
    private let pieces: [Place?]
    /// Bytes of the files that are linked.
    public let linkedLength: UInt64

    /// A file, or a piece, of one of the trees.
    private struct Place: Comparable {
        let tree: UInt32
        let number: UInt32

        static func < (left: Self, right: Self) -> Bool {
            (left.tree, left.number) < (right.tree, right.number)
        }
    }

    /// Pieces of trees that have changed are read, and count only where they are sound.
    ///
    /// - Parameters:
    ///   - pack: only its index and catalog are needed.
    ///   - trees: of packs with the same content key, the best first.
    public init(of pack: OpenPack, on trees: [OpenedTree]) async throws(VaultError) {
        let catalog = pack.catalog
        var entries: [PrefixTable<Place>.Entry] = []
        for (number, tree) in trees.enumerated() where tree.isUnchanged {
            for index in 0..<tree.catalog.entryCount {
                guard let content = tree.catalog.contentDigest(ofEntry: index) else { continue }
                entries.append((content.prefix, Place(tree: UInt32(number), number: UInt32(index))))
            }
        }
        let unchangedFiles = PrefixTable(entries)
        func place(ofFile content: SHA256Digest) -> Place? {
            unchangedFiles[content.prefix].first {
                trees[Int($0.tree)].catalog.contentDigest(ofEntry: Int($0.number)) == content
            }
        }
        var linkedLength: UInt64 = 0
        var files: [Place?] = []
        files.reserveCapacity(catalog.entryCount)
        for index in 0..<catalog.entryCount {
            let place = catalog.contentDigest(ofEntry: index).flatMap(place(ofFile:))
            if place != nil, let entry = catalog.entry(index) { linkedLength += entry.size }
            files.append(place)
        }
        let directories = trees.map { PiecesByPlaintext(of: $0.catalog) }
        @Sendable func place(of piece: Int, where isSound: (OpenedTree, _ other: Int) -> Bool) -> Place? {
            for (number, (tree, directory)) in zip(trees, directories).enumerated() {
                guard let other = directory.piece(of: catalog.digestBytes(piece)),
                    tree.catalog.pieceRange(other).count == catalog.pieceRange(piece).count,
                    isSound(tree, other)
                else { continue }
                return Place(tree: UInt32(number), number: UInt32(other))
            }
            return nil
        }
        var found = (0..<catalog.pieceCount).map { place(of: $0) { tree, _ in tree.isUnchanged } }
        if !trees.allSatisfy(\.isUnchanged) {
            try await runInOrder(
                found.indices.filter { found[$0] == nil }, memory: { catalog.pieceRange($0).count },
                work: { (piece: Int) throws(VaultError) -> (Int, Place?) in
                    (piece, place(of: piece) { tree, other in (try? tree.plaintext(ofPiece: other)) != nil })
                },
                deliver: { found[$0.0] = $0.1 })
        }
        self.trees = trees
        self.files = files
        self.linkedLength = linkedLength
        pieces = found
    }

    /// Whether a piece of the pack is in one of the trees, so that it need not be fetched.
    public func has(piece number: Int) -> Bool { pieces.indices.contains(number) && pieces[number] != nil }

    /// The plaintext of a piece of the pack, verified; nil where no tree has it, or it has changed since.
    func plaintext(ofPiece number: Int) -> [UInt8]? {
        guard pieces.indices.contains(number), let place = pieces[number] else { return nil }
        return try? trees[Int(place.tree)].plaintext(ofPiece: Int(place.number))
    }

    /// A file of one of the trees.
    struct File {
        /// The number of the tree.
        fileprivate let tree: Int
        /// The folder of the tree.
        fileprivate let root: FilePath
        fileprivate let path: EntryPath
    }

    /// The file of a tree that entry `index` of the pack is to be linked to; nil where no tree has it.
    func file(ofEntry index: Int) -> File? {
        guard files.indices.contains(index), let place = files[index] else { return nil }
        let tree = trees[Int(place.tree)]
        guard let entry = tree.catalog.entry(Int(place.number)) else { return nil }
        return File(tree: Int(place.tree), root: tree.root, path: entry.path)
    }
}

extension Catalog {
    /// Identifies the kind and the bytes of a file by the parts of pieces that it consists of, without reading them. Nil for entries
    /// without bytes. Equal files that are cut in other places differ.
    fileprivate func contentDigest(ofEntry index: Int) -> SHA256Digest? {
        guard let entry = entry(index), entry.size > 0 else { return nil }
        var digest = SHA256()
        digest.update([entry.kind.rawValue].span)
        for number in pieces(containing: entry.content) {
            let piece = pieceRange(number)
            let part = entry.content.clamped(to: piece)
            var bytes = Array(digestBytes(number))
            bytes.appendBigEndian(part.lowerBound - piece.lowerBound)
            bytes.appendBigEndian(UInt64(part.count))
            digest.update(bytes.span)
        }
        return digest.finalize()
    }
}

/// Links files of a basis into a new tree.
struct TreeLinks: ~Copyable {
    /// The folders of the trees, which are opened when they are needed.
    private var walks: [Int: FolderWalkReference] = [:]

    private final class FolderWalkReference {
        var walk: FolderWalk

        init(below root: FilePath) throws(VaultError) {
            walk = try FolderWalk(below: Folder(opening: root))
        }
    }

    /// Links a file as an entry of the new tree. False where it must be written: it is not as it was, or the file system or another
    /// process refuses the link. Throws `.diskFull`.
    mutating func link(
        _ file: TreeBasis.File, as entry: Catalog.Entry, into folder: borrowing Folder
    ) throws(VaultError) -> Bool {
        do throws(VaultError) {
            let reference: FolderWalkReference
            if let known = walks[file.tree] {
                reference = known
            } else {
                reference = try FolderWalkReference(below: file.root)
                walks[file.tree] = reference
            }
            try reference.walk.enter(file.path.segments.dropLast())
            guard let found = try reference.walk.folder.status(of: file.path.name), found.kind == .file,
                found.size == entry.size, found.permissions & 0o022 == 0,
                (found.permissions & 0o100 != 0) == (entry.kind == .executable)
            else { return false }
            // An earlier attempt may have linked it.
            if try folder.status(of: entry.path.name)?.isSameFile(as: found) == true { return true }
            try reference.walk.folder.link(file.path.name, into: folder, as: entry.path.name)
            return true
        } catch {
            guard error.category != .diskFull else { throw error }
            return false
        }
    }
}
