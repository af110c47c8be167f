import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// The root that the verification of a site's metadata begins with.
struct TrustedRootOption: ParsableArguments {
    @Option(
        name: .customLong("trust"),
        help: ArgumentHelp("The root file that the site must follow from.", valueName: "root.json"),
        completion: .file(extensions: ["json"]))
    var path: String?

    /// Nil without the option.
    func root() throws(VaultError) -> [UInt8]? {
        try path.map { path throws(VaultError) in try Self.root(at: FilePath(path)) }
    }

    static func root(at path: FilePath) throws(VaultError) -> [UInt8] {
        try DurableFile.read(path, limit: MetadataRole.root.sizeLimit)
    }
}
