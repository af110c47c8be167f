import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// One area of a store, for reading: other users may have put anything into `shared/` and `ephemeral/`. Files are opened folder by
/// folder from the area's own folder, never through a link, and only regular ones. Each kind of file has a limit, and so has each
/// look at many of them (``Budget``). A file that exceeds a limit counts as damaged or is ignored; all others are still read.
struct StoreArea: Sendable {
    let path: FilePath

    /// What files hold.
    enum FileKind {
        case manifest, record
        /// What was received on a day.
        case traffic

        /// Bytes of a file. A manifest has up to 1,024 slots of about 150 bytes, a record up to three manifests. Parsed JSON takes
        /// up to 25 times its bytes in memory.
        var limit: Int {
            switch self {
            case .manifest: 1 << 19
            case .record, .traffic: 1 << 20
            }
        }
    }

    /// Limits of what one operation reads of an area; the rest is ignored.
    struct Budget {
        /// Names in folders.
        var names = 1 << 19
        var folders = 1 << 17
        /// Bytes of files.
        var bytes = 64 << 20

        /// Of permanent storage, where only the app writes, all is looked at.
        static let unlimited = Budget(names: .max, folders: .max, bytes: .max)

        /// Takes the bytes of a file; false where they do not suffice.
        mutating func take(_ count: Int) -> Bool {
            guard count <= bytes else { return false }
            bytes -= count
            return true
        }
    }

    /// The folder at a path, opened folder by folder from the area's own, which may be a link: it is the operator's. Nil where it is
    /// missing, or where it or a folder above it is something else, such as a folder of another user that is closed to this one.
    func openFolder(_ path: FilePath) throws(VaultError) -> Folder? {
        try openFolder(names(to: path)[...])
    }

    private func openFolder(_ names: ArraySlice<[UInt8]>) throws(VaultError) -> Folder? {
        guard try FileSystem.status(of: self.path, followingLinks: true)?.kind == .folder else { return nil }
        var folder = try Folder(opening: self.path)
        for name in names {
            guard let inner = try folder.enter(name) else { return nil }
            folder = inner
        }
        return folder
    }

    /// The names from the area's folder to a path in it.
    func names(to path: FilePath) -> [[UInt8]] {
        path.string.utf8.dropFirst(self.path.string.utf8.count).split(separator: UInt8(ascii: "/")).map(
            Array.init)
    }

    /// The regular file at a path; nil where its folder can't be entered. Throws `.missing`, and `.corrupt` for anything else.
    func openFile(_ file: FilePath) throws(VaultError) -> OpenFile? {
        let names = names(to: file)
        guard let name = names.last, let folder = try openFolder(names.dropLast()) else { return nil }
        return try folder.openFile(name)
    }

    /// The whole content of a file; nil where there is none. Throws `.corrupt` for a larger one than its kind may be.
    func read(_ file: FilePath, as kind: FileKind) throws(VaultError) -> [UInt8]? {
        do throws(VaultError) {
            if let opened = try openFile(file) { return try opened.readAll(limit: kind.limit) }
        } catch {
            guard error.category == .missing else { throw error }
        }
        // Where its folder is closed to this user, that it is missing is not known.
        _ = try FileSystem.status(of: file)
        return nil
    }

    func manifest(_ file: FilePath) throws(VaultError) -> PackManifest? {
        guard let bytes = try read(file, as: .manifest) else { return nil }
        let json = try JSONValue(parsing: bytes.span, place: file.string).asObject(at: file.string)
        return try PackManifest(parsing: json, place: file.string)
    }

    /// The names in a folder, as texts; none where it can't be entered. More than the limit are not looked at.
    func names(in folder: FilePath, upTo limit: Int = Budget().folders) throws(VaultError) -> [String] {
        guard let opened = try openFolder(folder) else { return [] }
        return try opened.names(upTo: limit).names.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Passes the folders below one whose paths from there can be parts of pack IDs to `visit`, itself first, and
    /// whether it is a pack's: has a name that begins with `@`. What can't be read is left out. False where something was.
    @discardableResult
    func forEachPackFolder(
        below root: FilePath, within budget: inout Budget,
        _ visit: (_ folder: borrowing Folder, _ path: String, _ isPack: Bool) throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        guard let folder = try openFolder(root) else { return true }
        return try Self.walk(folder, path: "", within: &budget, visit)
    }

    /// Recursive, as deep as a pack ID has segments: 256.
    private static func walk(
        _ folder: borrowing Folder, path: String, within budget: inout Budget,
        _ visit: (_ folder: borrowing Folder, _ path: String, _ isPack: Bool) throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        guard budget.folders > 0 else { return false }
        budget.folders -= 1
        let found = try folder.names(upTo: budget.names)
        budget.names -= found.names.count
        let names = found.names.map { String(decoding: $0, as: UTF8.self) }
        try visit(folder, path, names.contains { $0.hasPrefix(StoreLayout.reservedPrefix) })
        var isWhole = found.isWhole
        for name in names {
            let next = path.isEmpty ? name : "\(path)/\(name)"
            // `lost+found`, for example, is the system's.
            guard (try? PackID(next)) != nil, let inner = try usable(folder.enter(name)) else { continue }
            if try usable(walk(inner, path: next, within: &budget, visit)) != true { isWhole = false }
        }
        return isWhole
    }
}

extension StoreLayout {
    var sharedArea: StoreArea { StoreArea(path: shared) }
    var ephemeralArea: StoreArea { StoreArea(path: ephemeral) }
    var permanentArea: StoreArea { StoreArea(path: permanent) }

    /// The area where a role keeps what it decides.
    func storeArea(of role: StoreRole) -> StoreArea { StoreArea(path: area(of: role)) }
}
