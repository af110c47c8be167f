import SealedPack
import VaultBase
import VaultFileSystem

/// The name of a version in permanent storage: `@VERSION-DIGEST` or `@VERSION-DIGEST.avpack`.
struct VersionName {
    let text: String
    let version: UInt64
    let form: PackForm

    private static let damagedSuffix = ".damaged"
    private static let tailSuffix = ".tail"
    private static let arrivingSuffix = ".arriving"

    /// The damaged version that a repair leaves to its readers.
    var damaged: String { text + Self.damagedSuffix }

    /// The file of the pack that a tree was opened from, with holes where its pieces were.
    var tailFile: String { text + Self.tailSuffix }

    /// The folder that the version is opened into while it is downloaded.
    var arrivingTree: String { text + Self.arrivingSuffix }

    /// Where the pieces are that a sealed version has not in its own file.
    var places: String { text + PiecePlaces.suffix }

    /// The version that an entry of a pack's folder belongs to: the version itself, or what is beside it.
    init?(ofEntry text: String) {
        for suffix in Self.suffixes where text.hasSuffix(suffix) {
            self.init(String(text.dropLast(suffix.count)))
            return
        }
        self.init(text)
    }

    private static let suffixes = [".json", damagedSuffix, tailSuffix, arrivingSuffix, PiecePlaces.suffix]

    init(of pack: PackManifest, as form: PackForm) {
        text = "@\(pack.version)-\(pack.sha256.hex.prefix(16))\(form == .sealed ? ".avpack" : "")"
        version = pack.version
        self.form = form
    }

    /// Whether a hexadecimal digest is that of this version.
    func isVersion(withDigest digest: String) -> Bool {
        text.hasSuffix("-\(digest.prefix(16))")
    }

    /// Nil for a text that is not the name of a version.
    init?(_ text: String) {
        let parts = text.dropFirst().split(separator: "-", maxSplits: 1)
        guard text.first == "@", parts.count == 2, let version = UInt64(parts[0]),
            !text.contains("/"), !Self.suffixes.contains(where: text.hasSuffix)
        else { return nil }
        self.text = text
        self.version = version
        form = text.hasSuffix(".avpack") ? .sealed : .opened
    }
}

/// A version in permanent storage, open. Its readers, and processes that remove it, lock the tree's folder or the sealed file
/// itself: so a lock means this version, whatever its name, and dies with its process.
enum StagedVersion: ~Copyable, Sendable {
    case tree(Folder)
    case pack(OpenFile)

    /// Nil when there is none. Throws `.corrupt` for a link or anything else that is not a version.
    ///
    /// - Parameter exclusively: to be locked exclusively.
    init?(_ name: VersionName, in home: borrowing Folder, exclusively: Bool = false) throws(VaultError) {
        do throws(VaultError) {
            self =
                switch name.form {
                case .opened: .tree(try home.openFolder(name.text))
                case .sealed where exclusively: .pack(try Self.lockableFile(name.text, in: home))
                case .sealed: .pack(try home.openFile(name.text))
                }
        } catch {
            guard error.category == .missing else { throw error }
            return nil
        }
    }

    /// A file that can be locked exclusively: on NFS it must be open for writing.
    static func lockableFile(_ name: String, in home: borrowing Folder) throws(VaultError) -> OpenFile {
        if let file = try? home.updateFile(name) { return file }
        return try home.openFile(name)
    }

    /// Whether `name` still names this version.
    func isStill(_ name: VersionName, in home: borrowing Folder) throws(VaultError) -> Bool {
        guard let found = try home.status(of: name.text) else { return false }
        return found.isSameFile(as: try status)
    }

    var status: FileStatus {
        get throws(VaultError) {
            switch self {
            case .tree(let folder): try folder.status()
            case .pack(let file): try file.status()
            }
        }
    }

    /// False where another process has it. Throws where the file system has no locks.
    func tryLock(exclusive: Bool) throws(VaultError) -> Bool {
        switch self {
        case .tree(let folder): try folder.tryLock(exclusive: exclusive)
        case .pack(let file): try file.tryLock(exclusive: exclusive)
        }
    }

    /// Gives a sealed file another fingerprint: the next fetch verifies it. The names and kinds of a tree's files are in its
    /// fingerprint already.
    func expectVerification() {
        switch self {
        case .tree: break
        case .pack(let file): file.touch()
        }
    }

    /// Leaves it open, and locked, to the program that this process becomes.
    func keepOpenAcrossExec() throws(VaultError) {
        switch self {
        case .tree(let folder): try folder.keepOpenAcrossExec()
        case .pack(let file): try file.keepOpenAcrossExec()
        }
    }

    func unlock() {
        switch self {
        case .tree(let folder): folder.unlock()
        case .pack(let file): file.unlock()
        }
    }
}
