import SystemPackage
import VaultErrors
import VaultFileSystem

/// Every root that a client ever trusted, as received: `root_history/VERSION.root.json`, as python-tuf stores them.
/// With them the chain from any earlier root to the present one can be verified again.
struct StoredRoots {
    static let folderName = "root_history"

    let folder: FilePath
    private let permissions: UInt16

    init(below store: FilePath, permissions: UInt16) {
        folder = store.appending(Self.folderName)
        self.permissions = permissions
    }

    /// The stored versions, lowest first.
    func versions() throws(VaultError) -> [Int64] {
        guard try FileSystem.exists(folder) else { return [] }
        let ending = ".root.json"
        let names = try Folder(opening: folder).names().map { String(decoding: $0, as: UTF8.self) }
        return names.filter { $0.hasSuffix(ending) }.compactMap { Int64($0.dropLast(ending.count)) }.sorted()
    }

    /// The root of one version; nil when it is not stored.
    func root(version: Int64) throws(VaultError) -> [UInt8]? {
        do throws(VaultError) {
            return try DurableFile.read(path(of: version), limit: MetadataRole.root.sizeLimit)
        } catch {
            guard error.category == .missing else { throw error }
            return nil
        }
    }

    /// The pin.
    func firstRoot() throws(VaultError) -> [UInt8]? {
        guard let version = try versions().first else { return nil }
        return try root(version: version)
    }

    func store(_ root: [UInt8], version: Int64) throws(VaultError) {
        try FileSystem.createFolders(folder, permissions: permissions)
        try DurableFile.write(
            root.span, to: path(of: version), permissions: permissions & 0o666, replacing: true)
    }

    /// The paths of all stored roots.
    func files() throws(VaultError) -> [FilePath] { try versions().map(path) }

    func clear() throws(VaultError) {
        for version in try versions() { try FileSystem.removeFile(path(of: version)) }
    }

    func removeAbandonedScratch() throws(VaultError) {
        if try FileSystem.exists(folder) { try Folder(opening: folder).removeAbandonedScratch() }
    }

    func path(of version: Int64) -> FilePath {
        folder.appending(MetadataRole.root.hostedName(version: version))
    }
}
