import SystemPackage
import VaultErrors
import VaultFileSystem

/// A folder of secrets. Symbolic links are followed only while they stay inside it, as those of Kubernetes do:
/// `name -> ..data/name`, `..data -> ..2026_01_31`.
struct SecretFolder {
    let path: FilePath

    /// Every name, sorted by bytes; names that are not UTF-8 are nobody's keys.
    func names() throws(VaultError) -> [String] {
        let folder = try Folder(opening: path)
        return try folder.names().compactMap { String(validating: $0, as: UTF8.self) }
    }

    /// Opens the file that a name stands for; nil for folders, pipes and the like.
    ///
    /// Each step is opened without following links, so what changes meanwhile leads nowhere else.
    func open(_ name: String) throws(VaultError) -> OpenFile? {
        var pending = [name]
        var passed: [String] = []
        var links = 0
        while let next = pending.popLast() {
            if next == "." { continue }
            if next == ".." {
                guard passed.popLast() != nil else { throw leadsOutside(name) }
                continue
            }
            let folder = try folder(at: passed)
            switch try folder.status(of: next)?.kind {
            case .link:
                links += 1
                guard links <= 16, let target = try folder.readLink(next), !target.isAbsolute else {
                    throw leadsOutside(name)
                }
                pending.append(contentsOf: target.components.map(\.string).reversed())
            case .folder: passed.append(next)
            case .file where pending.isEmpty: return try folder.openFile(next)
            case nil:
                throw VaultError(
                    .key, "is a link to nothing", at: path.appending(name).string, remedy: "remove or mend it"
                )
            default: return nil
            }
        }
        return nil
    }

    private func folder(at names: [String]) throws(VaultError) -> Folder {
        var folder = try Folder(opening: path)
        for name in names { folder = try folder.openFolder(name) }
        return folder
    }

    private func leadsOutside(_ name: String) -> VaultError {
        VaultError(
            .key, "is a link that leads outside its folder, or in a circle", at: path.appending(name).string,
            remedy: "put the key itself into the folder; only links inside it are followed")
    }
}
