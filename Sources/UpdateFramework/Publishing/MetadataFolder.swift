import StrictJSON
public import SystemPackage
public import VaultErrors
import VaultFileSystem

/// A site's local folder of metadata, to read from and to publish to.
public struct MetadataFolder: MetadataSource {
    public let path: FilePath

    public init(_ path: FilePath) {
        self.path = path
    }

    /// See ``MetadataSource/metadata(named:limit:)``. Nil for a name that contains folders.
    public func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        try file(named: name, limit: limit)
    }

    public func place(of name: String) -> String { path.appending(name).string }

    public func file(named name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        guard let component = FilePath.Component(name), component.kind == .regular else { return nil }
        do throws(VaultError) {
            return try DurableFile.read(path.appending(component), limit: limit)
        } catch {
            guard error.category == .missing else { throw error.asUntrusted }
            return nil
        }
    }

    /// All versions of all roles' files in the folder, also those of an interrupted publication, except the timestamp,
    /// which has no version in its name.
    public func versions() throws(VaultError) -> [MetadataVersion] {
        guard try FileSystem.exists(path) else { return [] }
        return try Folder(opening: path).names().compactMap {
            MetadataVersion(hostedName: String(decoding: $0, as: UTF8.self))
        }
    }

    /// The highest version of a role's file in the folder; nil when there is none.
    public func newestVersion(of role: MetadataRole) throws(VaultError) -> Int64? {
        try versions().filter { $0.fileName == role.fileName }.map(\.version).max()
    }

    /// The next version of each role: above all files in the folder.
    public func nextVersions() throws(VaultError) -> NextVersions {
        var next = NextVersions()
        for file in try versions() { next.add(file.version, of: file.fileName) }
        if let version = try timestampVersion() { next.add(version, of: MetadataRole.timestamp.fileName) }
        return next
    }

    /// The version of the folder's timestamp; nil when there is none.
    public func timestampVersion() throws(VaultError) -> Int64? {
        let role = MetadataRole.timestamp
        guard let bytes = try file(named: role.fileName, limit: role.sizeLimit) else { return nil }
        return try UnverifiedMetadata(parsing: bytes, as: role, place: role.fileName).document.version
    }
}

/// The file name of one version of a role's metadata.
public struct MetadataVersion: Sendable, Hashable {
    public let version: Int64
    /// The file's name without the version.
    public let fileName: String

    public init?(hostedName: String) {
        guard hostedName.hasSuffix(".json"), let dot = hostedName.firstIndex(of: "."),
            let version = Int64(hostedName[..<dot]), version >= 1, JSONValue.integerRange.contains(version)
        else { return nil }
        self.version = version
        fileName = String(hostedName[hostedName.index(after: dot)...])
    }

    public var hostedName: String { "\(version).\(fileName)" }

    /// The role; nil if its name needs percent-encoding.
    public var role: MetadataRole? {
        let name = String(fileName.dropLast(".json".count))
        let role = TopLevelRole(rawValue: name).map { MetadataRole($0) } ?? MetadataRole(delegated: name)
        return role?.fileName == fileName ? role : nil
    }
}
