import SystemPackage
import Testing
import VaultFileSystem

/// What a folder of folders and files holds, in memory, to be written again.
struct FolderImage: Sendable {
    private enum Entry {
        case folder(permissions: UInt16)
        case file([UInt8], permissions: UInt16)
    }

    /// What is in a folder stands behind it.
    private var entries: [(path: FilePath, entry: Entry)] = []

    let origin: FilePath

    init(of folder: FilePath) throws {
        origin = folder
        try add(folder, as: FilePath())
    }

    private mutating func add(_ folder: FilePath, as path: FilePath) throws {
        for name in try names(in: folder) {
            let (source, place) = (folder.appending(name), path.appending(name))
            let status = try #require(try FileSystem.status(of: source))
            switch status.kind {
            case .folder:
                entries.append((place, .folder(permissions: status.permissions)))
                try add(source, as: place)
            case .file:
                let bytes = try DurableFile.read(source, limit: 1 << 28)
                entries.append((place, .file(bytes, permissions: status.permissions)))
            default: Issue.record("\(source) is neither a folder nor a file")
            }
        }
    }

    func write(to folder: FilePath) throws {
        for (path, entry) in entries {
            let place = folder.pushing(path)
            switch entry {
            case .folder(let permissions): try FileSystem.createFolders(place, permissions: permissions)
            case .file(let bytes, let permissions):
                try OpenFile(creating: place, permissions: permissions).write(bytes.span, at: 0)
            }
        }
    }
}
