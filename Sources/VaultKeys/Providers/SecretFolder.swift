import SystemPackage
import VaultErrors
import VaultFileSystem

/// A folder of secrets. Symbolic links are followed only inside it, as Kubernetes needs: `name -> ..data/name`,
/// `..data -> ..2026_01_31`.
struct SecretFolder {
    let path: FilePath

    /// All names that are UTF-8, sorted by bytes.
    func names() throws(VaultError) -> [String] {
        let folder = try Folder(opening: path)
        return try folder.names().compactMap { String(validating: $0, as: UTF8.self) }
    }

    /// Opens a file by name; nil for folders, pipes and other kinds.
    ///
    /// Each step is opened without following links, so concurrent changes can't lead outside.
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
            case nil where links == 0:
                throw VaultError(
                    .key, "does not exist", at: path.appending(name).string, remedy: "check the name")
            case nil:
                throw VaultError(
                    .key, "is a broken link", at: path.appending(name).string, remedy: "remove or repair it"
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
            .key, "is a link to outside its folder, or a cycle", at: path.appending(name).string,
            remedy: "put the key itself into the folder; only links inside it are followed")
    }
}
