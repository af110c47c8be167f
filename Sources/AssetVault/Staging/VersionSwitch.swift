import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// Versions of several packs that become live at once. The names of all are saved in one file before the first link `current` is
/// changed, and the file is removed after the last one. While it is there, readers follow it and not the links: so they see either
/// all of the versions or none, also if the process dies in between. The next one that locks the store changes the other links. Only where
/// the disk damages the file in that time do some of them stay behind, until the next fetch.
struct VersionSwitch {
    private let versions: [PackID: VersionName]

    /// More than the names of all packs that a site can list.
    private static let limit = 128 << 20

    init(to versions: [PackID: VersionName]) { self.versions = versions }

    /// Makes the versions live, under the lock.
    func run(in layout: StoreLayout) throws(VaultError) {
        guard !versions.isEmpty else { return }
        try Self.complete(in: layout)
        let left = try Self.saved(in: layout)?.versions ?? [:]
        try VersionSwitch(to: left.merging(versions) { $1 }).save(in: layout)
        StagingStep.switchSaved.reached()
        // From here on they are live. What can't be done now, the next holder of the lock does.
        try? Self.complete(in: layout)
    }

    private func save(in layout: StoreLayout) throws(VaultError) {
        guard !versions.isEmpty else { return try Self.remove(in: layout) }
        let json = JSONObject(
            lastWins: versions.map { ($0.key.description, JSONValue.string($0.value.text)) })
        try DurableFile.write(
            JSONValue.object(json).compact().span, to: layout.versionSwitch,
            permissions: AreaPermissions.permanent.files, replacing: true)
    }

    /// A pack is decided on by itself: what is left of a switch no longer names its version.
    static func leaveOut(_ id: PackID, in layout: StoreLayout) throws(VaultError) {
        guard var left = try saved(in: layout)?.versions, left.removeValue(forKey: id) != nil else { return }
        try VersionSwitch(to: left).save(in: layout)
    }

    /// Changes the links that a process which died did not change, under the lock. Those that can't be changed stay for the next holder.
    static func complete(in layout: StoreLayout) throws(VaultError) {
        guard let found = try saved(in: layout) else {
            // A damaged file names nothing: what is left is ready, and becomes live with the next fetch.
            if try FileSystem.exists(layout.versionSwitch) { try remove(in: layout) }
            return
        }
        var left: [PackID: VersionName] = [:]
        for (id, version) in found.versions.sorted(by: { $0.key < $1.key }) {
            do throws(VaultError) {
                // It may have been removed by now.
                guard let folder = try VersionFolder(of: id, in: layout),
                    try folder.folder.status(of: version.text) != nil
                else { continue }
                if try folder.folder.readLink("current")?.string != version.text {
                    try folder.activate(version)
                }
            } catch {
                left[id] = version
            }
            StagingStep.versionSwitched.reached()
        }
        guard left.count < found.versions.count else { return }
        try VersionSwitch(to: left).save(in: layout)
        StagingStep.switchEnded.reached()
    }

    /// Durably: a file that came back would undo later updates.
    private static func remove(in layout: StoreLayout) throws(VaultError) {
        try FileSystem.removeFile(layout.versionSwitch)
        try Folder(opening: layout.permanent).synchronize()
    }

    /// Nil where no switch is under way.
    private static func saved(in layout: StoreLayout) throws(VaultError) -> VersionSwitch? {
        let path = layout.versionSwitch
        guard let bytes = try optional(DurableFile.read(path, limit: limit), ignoring: .missing, .corrupt)
        else {
            return nil
        }
        guard let json = try? JSONValue(parsing: bytes.span, place: path.string).asObject(at: path.string)
        else { return nil }
        var versions: [PackID: VersionName] = [:]
        for (key, value) in json {
            guard let id = try? PackID(key), case .string(let text) = value, let name = VersionName(text)
            else { return nil }
            versions[id] = name
        }
        return VersionSwitch(to: versions)
    }

    /// The version that a switch which is under way makes live; nil for other packs.
    fileprivate static func version(of id: PackID, in layout: StoreLayout) throws(VaultError) -> VersionName?
    {
        try saved(in: layout)?.versions[id]
    }
}

extension StoreLayout {
    /// The name of the live version of a pack: that of a switch which is under way, else what `current` leads to.
    func liveName(of id: PackID, in home: borrowing Folder) throws(VaultError) -> FilePath? {
        if let version = try VersionSwitch.version(of: id, in: self) { return FilePath(version.text) }
        return try home.readLink("current")
    }
}
