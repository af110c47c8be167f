public import SystemPackage
public import VaultErrors
import VaultTransport

/// Where a site is uploaded to. Files are named relative to the site, such as `metadata/timestamp.json`.
///
/// "It is not there" is an answer; a tool that fails is an error, never an answer.
public protocol UploadDestination: Sendable {
    /// In messages: as it was written.
    var name: String { get }

    /// The sizes of all files below `metadata/` and `targets/`; empty where nothing is there yet.
    func sizes() async throws(VaultError) -> [String: UInt64]

    /// Copies metadata files that are there into a folder, below which they have the same paths.
    func read(_ files: [String], into folder: FilePath) async throws(VaultError)

    /// Copies files from a folder that has them under the same paths.
    func write(_ files: [String], from folder: FilePath, _ writing: UploadWriting) async throws(VaultError)

    /// Reads files back, every byte of them, and gives those that are not confirmed to be as in the folder.
    func differing(_ files: [String], from folder: FilePath) async throws(VaultError) -> [String]
}

/// How a file is written.
public enum UploadWriting: Sendable {
    /// The name stands for one content, and is not there yet.
    case new
    /// The same, in the place of a file that is incomplete or damaged.
    case repairing
    /// The one file whose content changes.
    case timestamp

    /// The response header that a store of objects keeps with the file.
    var cacheControl: String {
        switch self {
        case .new, .repairing: "public, max-age=31536000, immutable, no-transform"
        case .timestamp: "no-store"
        }
    }
}

extension UploadDestination {
    /// The file in errors.
    func place(of file: String) -> String {
        name.hasSuffix(":") || name.hasSuffix("/") ? name + file : "\(name)/\(file)"
    }
}

/// The spellings of a destination.
///
///     FOLDER, ./a:b, file:///FOLDER    a folder on this machine
///     REMOTE:PATH, :BACKEND:PATH       what rclone takes
///     rsync:PATH, rsync://HOST/MODULE  what rsync takes, such as `rsync:web@host:/srv/game`
public enum UploadDestinations {
    /// - Parameter scratch: an existing folder for what external programs print.
    /// - Throws: `usage` for a text that names none.
    public static func destination(named text: String, scratch: FilePath) throws(VaultError)
        -> any UploadDestination
    {
        let scheme = text.prefix { $0 != ":" && $0 != "/" }
        let hasColon = text[scheme.endIndex...].first == ":"
        switch scheme.lowercased() {
        case _ where text.isEmpty || text.hasPrefix("-") || text.contains(where: \.isNewline):
            throw refusal("it names no destination", text)
        case "http" where hasColon, "https" where hasColon:
            throw refusal("nothing can be written to an http or https URL", text)
        case "file" where hasColon:
            guard let folder = try SiteLocation(text).path else { throw refusal("it is no folder", text) }
            return FolderDestination(folder)
        case "rsync" where hasColon:
            let rest = String(text.dropFirst("rsync:".count))
            let address = rest.hasPrefix("//") ? text : rest
            guard !rest.isEmpty, !rest.hasPrefix("-") else { throw refusal("it names no destination", text) }
            return RsyncDestination(name: text, address: address, scratch: scratch)
        case _ where hasColon: return RcloneDestination(name: text, scratch: scratch)
        default: return FolderDestination(FilePath(text))
        }
    }

    private static func refusal(_ problem: String, _ text: String) -> VaultError {
        VaultError(
            .usage, problem, at: text.isEmpty ? "destination" : text,
            remedy: "give a folder, REMOTE:PATH for rclone, or rsync:HOST:PATH")
    }
}
