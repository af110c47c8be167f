import Foundation
public import SystemPackage
public import VaultBase
import VaultTransport

/// Where a site is uploaded to. Files are named relative to the site, such as `metadata/timestamp.json`.
///
/// "It is not there" is an answer; a tool that fails is an error, never an answer.
public protocol UploadDestination: Sendable {
    /// In messages and reports: as it was written, without the secrets in it.
    var name: String { get }

    /// Throws `usage` for a folder in the site's.
    func requireOutside(of site: FilePath) throws(VaultError)

    /// The sizes of all files below `metadata/` and `targets/`, also behind links; empty where nothing is there yet.
    func sizes() async throws(VaultError) -> [String: UInt64]

    /// Copies those of these metadata files that are there into a folder, below which they have the same paths.
    func read(_ files: [String], into folder: FilePath) async throws(VaultError)

    /// Copies files from a folder that has them under the same paths.
    func write(_ files: [String], from folder: FilePath, _ writing: UploadWriting) async throws(VaultError)

    /// Reads files back, every byte of them, and gives those that are not confirmed to be as in the folder.
    func differing(_ files: [String], from folder: FilePath) async throws(VaultError) -> [String]

    /// Removes files.
    func remove(_ files: [String]) async throws(VaultError)
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
    public func requireOutside(of site: FilePath) {}

    /// The file in errors.
    func place(of file: String) -> String {
        name.joined(with: file)
    }
}

extension String {
    /// A file's address below this one.
    func joined(with file: String) -> String {
        hasSuffix(":") || hasSuffix("/") ? self + file : "\(self)/\(file)"
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
            throw refusal("it names no destination")
        case "http" where hasColon, "https" where hasColon:
            throw refusal("nothing can be written to an http or https URL")
        case "file" where hasColon:
            guard let folder = try SiteLocation(text).path else { throw refusal("it is not a folder") }
            return FolderDestination(folder)
        case "rsync" where hasColon:
            let rest = String(text.dropFirst("rsync:".count))
            guard !rest.isEmpty, !rest.hasPrefix("-") else { throw refusal("it names no destination") }
            guard !rest.hasPrefix("//") else {
                return RsyncDestination(prefix: "", address: text, scratch: scratch)
            }
            return RsyncDestination(prefix: "rsync:", address: rest, scratch: scratch)
        case _ where text[scheme.endIndex...].hasPrefix("://"):
            throw refusal("neither rclone nor rsync takes a URL of this kind")
        case _ where hasColon: return RcloneDestination(address: text, scratch: scratch)
        default: return FolderDestination(FilePath(text))
        }
    }

    /// The text is not repeated, as it may hold a password.
    private static func refusal(_ problem: String) -> VaultError {
        VaultError(
            .usage, problem, at: "destination",
            remedy: "give a folder, REMOTE:PATH for rclone, or rsync:HOST:PATH")
    }
}
