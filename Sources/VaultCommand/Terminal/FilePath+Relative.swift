import SystemPackage
import VaultErrors
import VaultFileSystem

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
