import SystemPackage
import VaultErrors
import VaultFileSystem

/// Goes from folder to folder below a root, through descriptors that follow no link. Entries come sorted, so the one before
/// mostly stood in the same folder: the way from the root is gone again only when the folder changes.
struct FolderWalk: ~Copyable {
    private let root: FilePath
    private(set) var folder: Folder
    private var segments: [String] = []

    init(below root: FilePath) throws(VaultError) {
        self.root = root
        folder = try Folder(opening: root)
    }

    /// Goes to the folder at `segments`, by a step from each folder to the next one.
    mutating func enter(
        _ segments: some Collection<String>,
        by step: (borrowing Folder, String) throws(VaultError) -> Folder
    ) throws(VaultError) {
        guard !segments.elementsEqual(self.segments, by: { $0.utf8.elementsEqual($1.utf8) }) else { return }
        folder = try Folder(opening: root)
        for segment in segments { folder = try step(folder, segment) }
        self.segments = Array(segments)
    }
}
