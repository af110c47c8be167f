import StrictJSON
public import SystemPackage
public import VaultErrors
import VaultFileSystem

/// The manifest beside a local pack: `PACK.json`.
public enum PackManifestFile {
    private static let limit = 64 << 20

    public static func path(beside pack: FilePath) -> FilePath {
        FilePath(pack.string + ".json")
    }

    /// The path of a new manifest until its pack has its name: `PACK.json.next`.
    public static func pending(_ manifest: FilePath) -> FilePath {
        FilePath(manifest.string + ".next")
    }

    /// The file's content: the target object, indented, with a newline at the end.
    public static func bytes(of pack: PackManifest) -> [UInt8] {
        JSONValue.object(pack.json).pretty()
    }

    public static func read(_ path: FilePath) throws(VaultError) -> PackManifest {
        let bytes = try DurableFile.read(path, limit: limit)
        let json = try JSONValue(parsing: bytes.span, place: path.string).asObject(at: path.string)
        return try PackManifest(parsing: json, place: path.string)
    }

    public static func read(beside pack: FilePath) throws(VaultError) -> PackManifest {
        try read(path(beside: pack))
    }
}
