import SealedPack
import Synchronization
import SystemPackage
import VaultFileSystem

/// The packs in a store whose pieces another pack can reuse. Equal pieces need the same content key, not the same ID or
/// version. Each piece is verified; none of the files is locked, since an open file can be read after its removal.
final class ReusablePacks: Sendable {
    /// Number of packs: each takes a file descriptor, and more of them rarely have further pieces.
    private static let limit = 32

    private typealias NamedFile = (name: String, file: OpenFileReference)

    private let layout: StoreLayout
    /// The packs that were ever sealed under a content key, by their records; nil before the first question.
    private let owners = Mutex<[ContentKeyID: Set<PackID>]?>(nil)

    init(_ layout: StoreLayout) { self.layout = layout }

    /// Packs of the store other than the download `file` itself: versions of the same pack first. A file that can't be
    /// opened is left out.
    func packs(besides pack: PackManifest, in file: FilePath) -> [PackFile] {
        var found: [PackFile] = []
        func add(_ files: [NamedFile]) {
            for (_, file) in files where found.count < Self.limit {
                guard let other = try? PackFile(file, as: nil), other.contentKeyID == pack.contentKeyID else {
                    continue
                }
                found.append(other)
            }
        }
        let others = owners(of: pack.contentKeyID).subtracting([pack.id]).sorted()
        for id in [pack.id] + others where found.count < Self.limit {
            add(Self.sealed(in: layout.home(of: id)) + Self.sealed(in: layout.waiting(of: id)))
        }
        add(arriving(besides: file))
        return found
    }

    /// Opened versions of a pack, each with its tail file.
    func trees(of pack: PackManifest) -> [(root: FilePath, tailFile: PackFile)] {
        let home = layout.home(of: pack.id)
        let tails = Self.files(in: home) { name, _ in
            VersionName(ofEntry: name).map { $0.form == .opened && name == $0.tailFile } ?? false
        }
        return tails.compactMap { name, file in
            guard let version = VersionName(ofEntry: name), let tailFile = try? PackFile(file, as: nil),
                tailFile.contentKeyID == pack.contentKeyID
            else { return nil }
            return (home.appending(version.text), tailFile)
        }
    }

    /// The download of a pack begins: others can reuse its pieces.
    func note(_ pack: PackManifest) {
        owners.withLock { _ = $0?[pack.contentKeyID, default: []].insert(pack.id) }
    }

    private func owners(of key: ContentKeyID) -> Set<PackID> {
        owners.withLock { owners in
            let known = owners ?? recordedOwners()
            owners = known
            return known[key] ?? []
        }
    }

    private func recordedOwners() -> [ContentKeyID: Set<PackID>] {
        let records = PackRecords(layout: layout, role: .app)
        var owners: [ContentKeyID: Set<PackID>] = [:]
        for id in (try? records.allIDs()) ?? [] {
            for role in StoreRole.allCases {
                guard let record = try? records.record(of: id, in: role) else { continue }
                for pack in [record.loaded?.pack, record.waiting, record.arriving] {
                    if let pack { owners[pack.contentKeyID, default: []].insert(id) }
                }
            }
        }
        return owners
    }

    /// Sealed packs in a folder of the store.
    private static func sealed(in path: FilePath) -> [NamedFile] {
        files(in: path) { name, _ in name.hasPrefix(StoreLayout.reservedPrefix) && name.hasSuffix(".avpack") }
    }

    /// Downloads, complete or partial.
    private func arriving(besides own: FilePath) -> [NamedFile] {
        Self.files(in: layout.ephemeral) { name, status in
            StoreLayout.digest(inDownload: name) != nil && name != own.lastComponent?.string
                && (try? EphemeralName.isReadable(status, at: layout.ephemeral.appending(name))) == true
        }
    }

    /// The files of a folder that can be opened.
    private static func files(in path: FilePath, where isWanted: (String, FileStatus) -> Bool) -> [NamedFile]
    {
        guard let folder = try? Folder(opening: path), let names = try? folder.names() else { return [] }
        var found: [NamedFile] = []
        for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
            guard let status = try? folder.status(of: name), isWanted(name, status),
                let file = try? folder.openFile(name)
            else { continue }
            found.append((name, OpenFileReference(file)))
        }
        return found
    }
}
