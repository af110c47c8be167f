public import SystemPackage
public import VaultErrors
import VaultFileSystem

/// A site's local folder of metadata, to read from and to publish to.
public struct MetadataFolder: MetadataSource {
    public let path: FilePath

    public init(_ path: FilePath) {
        self.path = path
    }

    /// See ``MetadataSource/metadata(named:limit:)``. Nil for a name that contains folders. A damaged file counts as
    /// untrusted, as it would from a host.
    public func metadata(named name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        guard let component = FilePath.Component(name), component.kind == .regular else { return nil }
        do throws(VaultError) {
            return try DurableFile.read(path.appending(component), limit: limit)
        } catch {
            guard error.category == .missing else { throw error.asUntrusted }
            return nil
        }
    }

    public func place(of name: String) -> String { path.appending(name).string }

    /// All versions of all roles' files in the folder, also those of an interrupted publication, except the timestamp,
    /// which has no version in its name.
    public func versions() throws(VaultError) -> [MetadataFileName] {
        guard try FileSystem.exists(path) else { return [] }
        return try Folder(opening: path).names().compactMap {
            MetadataFileName(hostedName: String(decoding: $0, as: UTF8.self))
        }
    }

    /// The highest version of a role's file in the folder; nil when there is none.
    public func newestVersion(of role: MetadataRole) throws(VaultError) -> Int64? {
        try versions().filter { $0.unversionedName == role.fileName }.map(\.version).max()
    }

    /// The next version of each role: above all files in the folder.
    public func nextVersions() throws(VaultError) -> NextVersions {
        var next = NextVersions()
        for file in try versions() { next.add(file.version, of: file.unversionedName) }
        if let version = try timestampVersion() { next.add(version, of: MetadataRole.timestamp.fileName) }
        return next
    }

    /// The version of the folder's timestamp; nil when there is none.
    public func timestampVersion() throws(VaultError) -> Int64? {
        let role = MetadataRole.timestamp
        guard let bytes = try metadata(named: role.fileName, limit: role.sizeLimit) else { return nil }
        return try UnverifiedMetadata(parsing: bytes, as: role, place: role.fileName).document.version
    }
}
