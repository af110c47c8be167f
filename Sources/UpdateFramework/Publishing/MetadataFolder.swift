import StrictJSON
public import SystemPackage
public import VaultErrors
import VaultFileSystem

/// A site's folder of metadata on this machine, as a source and as the place to publish to.
public struct MetadataFolder: MetadataSource {
    public let path: FilePath

    public init(_ path: FilePath) {
        self.path = path
    }

    /// See ``MetadataSource/metadata(named:limit:)``. A name with folders in it is not there.
    public func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        try file(named: name, limit: limit)
    }

    func file(named name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        guard let component = FilePath.Component(name), component.kind == .regular else { return nil }
        do throws(VaultError) {
            return try DurableFile.read(path.appending(component), limit: limit)
        } catch {
            guard error.category == .missing else { throw error.asUntrusted }
            return nil
        }
    }

    /// A version for new metadata of a role: one above every version that the folder has a file of, published
    /// or left behind by a publication that was interrupted.
    public func nextVersion(of role: TopLevelRole) throws(VaultError) -> Int64 {
        if role == .timestamp {
            guard let bytes = try file(named: role.fileName, limit: role.sizeLimit) else { return 1 }
            return try UnverifiedMetadata(parsing: bytes, as: role, place: role.fileName).document.version + 1
        }
        guard try FileSystem.exists(path) else { return 1 }
        let suffix = ".\(role.fileName)"
        var highest: Int64 = 0
        for bytes in try Folder(opening: path).names() {
            let name = String(decoding: bytes, as: UTF8.self)
            if name.hasSuffix(suffix), let version = Int64(name.dropLast(suffix.count)),
                JSONValue.integerRange.contains(version)
            {
                highest = max(highest, version)
            }
        }
        return highest + 1
    }
}
