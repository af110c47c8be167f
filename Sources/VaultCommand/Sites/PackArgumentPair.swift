import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// A pack that `--pack ID=SOURCE` declares.
struct PackArgumentPair {
    let id: PackID
    /// Relative to the vault.
    let source: FilePath

    init(_ text: String, in vault: FilePath) throws(VaultError) {
        let place = "--pack \(text)"
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw VaultError(.usage, "it names no source", at: place, remedy: "write --pack ID=SOURCE")
        }
        do throws(VaultError) { id = try PackID(parts[0]) } catch {
            throw VaultError(
                .usage, "'\(parts[0])' can't be a pack's ID: \(error.problem)", at: place,
                remedy: error.remedy)
        }
        let path = FilePath(parts[1])
        guard try FileSystem.status(of: path, followingLinks: true) != nil else {
            throw VaultError(
                .missing, "there is no such file or folder: \(path)", at: place,
                remedy: "name a folder or archive, relative to the folder you are in")
        }
        source = try path.relative(to: vault)
    }
}

extension FilePath {
    /// This path, relative to the current folder, as seen from `folder`; absolute where the two share no root.
    func relative(to folder: FilePath) throws(VaultError) -> FilePath {
        let here = try Folder(opening: "/proc/self").readLink("cwd") ?? "/"
        let target = here.pushing(self).lexicallyNormalized()
        let base = here.pushing(folder).lexicallyNormalized()
        var ups = 0
        var shared = base
        while !target.starts(with: shared) {
            shared.removeLastComponent()
            ups += 1
        }
        var path = FilePath(String(repeating: "../", count: ups))
        path.append(target.components.dropFirst(shared.components.count))
        return path
    }
}
