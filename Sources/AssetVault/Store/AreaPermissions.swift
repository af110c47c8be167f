import SystemPackage
import VaultErrors
import VaultFileSystem

/// Who may read what is made in an area. Two users who share `ephemeral/` and `shared/` do so by a group: what is made
/// gets the permissions of the area's own folder, which the operator made (`install -d -m 2770 -g GROUP`).
struct AreaPermissions {
    let folders: UInt16
    let files: UInt16

    /// Whether a group shares the area.
    var areShared: Bool { folders & 0o070 == 0o070 }

    /// An area that does not exist yet is this user's alone. Other users may never write files, only folders.
    init(of area: FilePath) throws(VaultError) {
        let mode = try FileSystem.status(of: area, followingLinks: true)?.permissions ?? 0o700
        let isGroups = mode & 0o070 == 0o070
        folders = isGroups ? mode & 0o2770 : 0o700
        files = isGroups ? 0o640 : 0o600
    }

    private init(folders: UInt16, files: UInt16) {
        self.folders = folders
        self.files = files
    }

    /// Permanent storage may be read by all users, and written by the app alone.
    static let permanent = AreaPermissions(folders: 0o755, files: 0o644)
}

extension StoreLayout {
    func permissions(of role: StoreRole) throws(VaultError) -> AreaPermissions {
        switch role {
        case .app: .permanent
        case .downloader: try AreaPermissions(of: shared)
        }
    }

    /// Makes the ephemeral area where it is missing.
    func makeEphemeral() throws(VaultError) {
        try FileSystem.createFolders(ephemeral, permissions: AreaPermissions(of: ephemeral).folders)
    }
}
