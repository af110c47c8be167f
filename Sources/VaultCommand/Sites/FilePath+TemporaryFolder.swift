import SystemPackage
import VaultFileSystem

extension FilePath {
    /// `TMPDIR`, else `/tmp`.
    static var temporaryFolder: FilePath {
        FilePath(ProcessEnvironment.text(of: "TMPDIR") ?? "/tmp")
    }
}
