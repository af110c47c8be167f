import SystemPackage
import VaultBase
import VaultFileSystem

extension FilePath {
    /// Throws `.missing` for anything but a site's folder.
    func requireSite() throws(VaultError) {
        if try FileSystem.status(of: appending("metadata"), followingLinks: true)?.kind == .folder { return }
        let kind = try FileSystem.status(of: self, followingLinks: true)?.kind
        if kind == nil, string.hasPrefix("http:/") || string.hasPrefix("https:/") {
            throw VaultError(
                .missing, "this command takes a site's folder, not a URL", at: string,
                remedy: "name the site's own folder, such as VAULT/site")
        }
        guard kind == .folder else {
            throw noSuch("folder", remedy: "check the path; the URL of a host begins with https://")
        }
        throw VaultError(
            .missing, "this folder holds no metadata/, so it is not a site", at: string,
            remedy: "name the site's own folder, such as VAULT/site")
    }

    /// The error where nothing is there. For what may be a URL without its scheme, the remedy is that URL.
    func noSuch(_ kind: String, remedy: String = "check the path") -> VaultError {
        VaultError(
            .missing, "there is no such \(kind)", at: string,
            remedy: urlWithoutScheme.map { "did you mean \($0)?" } ?? remedy)
    }

    /// The URL that this may be without `https://`: it begins with the name of a host.
    private var urlWithoutScheme: String? {
        let authority = string.prefix { $0 != "/" }.split(separator: ":", omittingEmptySubsequences: false)
        guard let host = authority.first, authority.count <= 2,
            authority.dropFirst().allSatisfy({ Int($0) != nil })
        else { return nil }
        if host == "localhost" || host == "127.0.0.1" { return "http://\(string)" }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isFile = ["avpack", "json", "jwks", "pem"].contains(labels.last ?? "")
        guard labels.count > 1, !isFile, !labels.contains(""), labels.last?.allSatisfy(\.isLetter) == true
        else { return nil }
        return "https://\(string)"
    }

    /// `TMPDIR`, else `/tmp`.
    static var temporaryFolder: FilePath {
        FilePath(ProcessEnvironment.text(of: "TMPDIR") ?? "/tmp")
    }
}
