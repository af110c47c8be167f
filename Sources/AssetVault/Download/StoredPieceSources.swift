import SealedPack
import Synchronization
import SystemPackage
import VaultErrors
import VaultFileSystem

/// What of a store may have pieces of a pack: equal pieces need the same content key, whatever the
/// packs are called and which versions they are. None of them is believed, and none is kept from going away: an open file
/// is all that is needed.
final class StoredPieceSources: Sendable {
    /// More of them promise little, and each takes a descriptor.
    private static let limit = 32

    private let layout: StoreLayout
    /// Which packs were ever sealed under a content key, by their records; nil until somebody wants to know.
    private let owners = Mutex<[ContentKeyID: Set<PackID>]?>(nil)

    init(_ layout: StoreLayout) { self.layout = layout }

    /// What is there beside a pack's own download, `file`: its other versions first. What can't be opened is left out.
    func packs(besides pack: PackManifest, in file: FilePath) -> [PackFile] {
        var found: [PackFile] = []
        func add(_ files: [OpenFileReference]) {
            for file in files where found.count < Self.limit {
                guard let held = try? PackFile(file, as: nil), held.contentKeyID == pack.contentKeyID else {
                    continue
                }
                found.append(held)
            }
        }
        let others = owners(of: pack.contentKeyID).subtracting([pack.id]).sorted()
        for id in [pack.id] + others where found.count < Self.limit {
            add(Self.sealed(in: layout.home(of: id)) + Self.sealed(in: layout.waiting(of: id)))
        }
        add(arriving(besides: file))
        return found
    }

    /// Versions of a pack that were opened, each with what is left of the pack itself.
    func trees(of pack: PackManifest) -> [(root: FilePath, tail: PackFile)] {
        let home = layout.home(of: pack.id)
        guard let folder = try? Folder(opening: home), let names = try? folder.names() else { return [] }
        var found: [(root: FilePath, tail: PackFile)] = []
        for text in names.map({ String(decoding: $0, as: UTF8.self) }) {
            guard let name = VersionName(ofEntry: text), name.form == .opened, text == name.tail,
                let file = try? folder.openFile(text),
                let tail = try? PackFile(OpenFileReference(file), as: nil),
                tail.contentKeyID == pack.contentKeyID
            else { continue }
            found.append((home.appending(name.text), tail))
        }
        return found
    }

    /// A pack begins to arrive, which others may profit from.
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

    /// Sealed packs in a folder of the store's own.
    private static func sealed(in path: FilePath) -> [OpenFileReference] {
        guard let folder = try? Folder(opening: path), let names = try? folder.names() else { return [] }
        var found: [OpenFileReference] = []
        for name in names.map({ String(decoding: $0, as: UTF8.self) })
        where name.hasPrefix("@") && name.hasSuffix(".avpack") {
            if let file = try? folder.openFile(name) { found.append(OpenFileReference(file)) }
        }
        return found
    }

    /// Downloads, finished or not.
    private func arriving(besides own: FilePath) -> [OpenFileReference] {
        guard let folder = try? Folder(opening: layout.ephemeral), let names = try? folder.names() else {
            return []
        }
        var found: [OpenFileReference] = []
        for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
            guard StoreLayout.digest(inDownload: name) != nil, name != own.lastComponent?.string,
                let status = try? folder.status(of: name),
                (try? EphemeralName.isReadable(status, at: layout.ephemeral.appending(name))) == true,
                let file = try? folder.openFile(name)
            else { continue }
            found.append(OpenFileReference(file))
        }
        return found
    }
}
