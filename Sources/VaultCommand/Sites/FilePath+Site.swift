import SystemPackage
import VaultErrors
import VaultFileSystem

extension FilePath {
    /// Throws `.missing` for anything but a site's folder.
    func requireSite() throws(VaultError) {
        if try FileSystem.status(of: appending("metadata"), followingLinks: true)?.kind == .folder { return }
        guard try FileSystem.status(of: self, followingLinks: true)?.kind == .folder else {
            let isURL = string.hasPrefix("http:/") || string.hasPrefix("https:/")
            throw VaultError(
                .missing, isURL ? "this command takes a site's folder, no URL" : "there is no such folder",
                at: string,
                remedy: isURL
                    ? "name the site's own folder, such as VAULT/site"
                    : "check the path; the URL of a host begins with https://")
        }
        throw VaultError(
            .missing, "this folder holds no metadata/, so it is no site", at: string,
            remedy: "name the site's own folder, such as VAULT/site")
    }
}
