import SystemPackage
import VaultErrors
import VaultFileSystem

extension FilePath {
    /// Throws `.missing` for anything but a site's folder.
    func requireSite() throws(VaultError) {
        if try FileSystem.status(of: appending("metadata"), followingLinks: true)?.kind == .folder { return }
        guard try FileSystem.status(of: self, followingLinks: true)?.kind == .folder else {
            throw VaultError(
                .missing, "there is no such folder", at: string,
                remedy: "check the path; the URL of a host begins with https://")
        }
        throw VaultError(
            .missing, "this folder holds no metadata/, so it is no site", at: string,
            remedy: "name the site's own folder, such as VAULT/site")
    }
}
