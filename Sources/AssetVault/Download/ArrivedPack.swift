import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// A pack that needs nothing of a host any more, in a file of ephemeral or shared storage.
struct ArrivedPack: Sendable {
    let file: OpenFileReference
    let rest: Rest

    /// Where the pieces are that the file does not have.
    enum Rest: Sendable {
        /// It has all of them. When the pack is opened, files are linked from these trees all the same; nil where they were not looked at.
        case nowhere(TreeBasis?)
        /// In trees that are here (nil where these were not looked at), and in the one that it was opened into while it was downloaded.
        case inTrees(TreeBasis?, ArrivingTree?)
        /// In files of earlier versions.
        case inFiles(PieceBases)

        var trees: (basis: TreeBasis?, arriving: ArrivingTree?) {
            switch self {
            case .nowhere(let basis): (basis, nil)
            case .inTrees(let basis, let arriving): (basis, arriving)
            case .inFiles: (nil, nil)
            }
        }
    }

    init(_ file: OpenFileReference, resting rest: Rest = .nowhere(nil)) {
        (self.file, self.rest) = (file, rest)
    }

    /// - Parameter bases: nil for a whole file.
    init(_ file: OpenFileReference, on bases: PieceBases?) {
        self.init(file, resting: bases.map { .inFiles($0) } ?? .nowhere(nil))
    }

    var isWhole: Bool { if case .nowhere = rest { true } else { false } }

    var bases: PieceBases? { if case .inFiles(let bases) = rest { bases } else { nil } }

    /// Whether it needs no tree, so that it can be kept as it is.
    var canStaySealed: Bool { isWhole || bases != nil }

    func packFile(of pack: PackManifest) throws(VaultError) -> PackFile {
        PackFile(try PackFile(file, as: pack, named: pack.id.description), on: bases)
    }

    /// Whether the file can rest on bases in another folder, too: it is renamed, or the file system there has holes.
    func canRest(in folder: FilePath) throws(VaultError) -> Bool {
        if bases == nil { return true }
        if try FileSystem.sameFileSystem(file.file.path, folder) { return true }
        let probe = try OpenFile(namelessIn: folder)
        try probe.truncate(to: 1 << 20)
        return try probe.hasHoles
    }

    /// The whole pack, in a file that has its index and catalog.
    func completed(in file: OpenFileReference, of pack: PackManifest) async throws(VaultError) -> ArrivedPack
    {
        var assembly = try PackAssembly(file, of: pack)
        _ = try await assembly.verifyTail()
        var source: PackFile? = try packFile(of: pack)
        try await assembly.reuse(from: { source.take() }, progress: { _ in })
        guard !assembly.isTailUnverified, !assembly.hasMissingPieces else {
            throw VaultError(
                .corrupt, "what it rests on has changed", at: pack.id.description, remedy: "fetch the pack")
        }
        _ = try assembly.finish()
        return ArrivedPack(file)
    }

    /// Before the file gets its name beside its bases: without its places it would have holes. Throws `.corrupt` where a base is no
    /// longer there, or has no longer the pieces that this pack needs.
    func savePlaces(beside target: FilePath, of pack: PackManifest) throws(VaultError) {
        guard let bases, bases.folder == target.removingLastComponent() else {
            return try FileSystem.discard(PiecePlaces.path(beside: target))
        }
        let isSaved = try bases.whileComplete { () throws(VaultError) in
            try bases.places.save(beside: target, of: try packFile(of: pack))
        }
        guard isSaved else {
            throw VaultError(
                .corrupt, "a version that it rests on was removed, or is freed as it is opened",
                at: target.string, remedy: "try again")
        }
    }
}
