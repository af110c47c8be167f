import Synchronization
import SystemPackage
import VaultErrors
import VaultFileSystem

/// A source that reads each file once, and a trusted root not at all.
final class RecordingMetadataSource: MetadataSource {
    private let source: any MetadataSource
    private let files: Mutex<[String: [UInt8]?]>

    init(_ source: any MetadataSource, trusting root: VerifiedRoot?) {
        self.source = source
        var files: [String: [UInt8]?] = [:]
        if let root { files[MetadataRole.root.hostedName(version: root.version)] = .some(root.bytes) }
        self.files = Mutex(files)
    }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        if let known = files.withLock({ $0[name] }) { return known }
        let bytes = try await source.metadata(named: name, limit: limit)
        files.withLock { $0[name] = .some(bytes) }
        return bytes
    }

    func place(of name: String) -> String { source.place(of: name) }

    /// The files that were read, by name.
    var found: [(name: String, bytes: [UInt8])] {
        files.withLock { files in files.compactMap { name, bytes in bytes.map { (name, $0) } } }
    }
}

/// Verified metadata of another store while they are adopted: a folder `adopting` with all files under their hosted
/// names. It appears atomically, so another process can complete the adoption when this one dies.
struct AdoptedMetadata: MetadataSource {
    private let folder: FilePath

    init(below store: FilePath) { folder = store.appending("adopting") }

    var exists: Bool {
        get throws(VaultError) { try FileSystem.exists(folder) }
    }

    func write(_ read: RecordingMetadataSource, permissions: UInt16) throws(VaultError) {
        let scratch = try ScratchFolder(beside: folder)
        for (name, bytes) in read.found {
            let file = try scratch.folder.createFile(name, permissions: permissions & 0o644)
            try file.write(bytes.span, at: 0)
        }
        // Replaces the folder of a dead process or of a concurrent one, which can finish without it.
        try remove()
        try scratch.commit(to: folder, permissions: permissions)
    }

    func remove() throws(VaultError) {
        guard let name = folder.lastComponent?.string, try exists else { return }
        try Folder(opening: folder.removingLastComponent()).discardTree(name)
    }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        do throws(VaultError) { return try DurableFile.read(folder.appending(name), limit: limit) } catch {
            guard error.category == .missing else { throw error }
            return nil
        }
    }

    func place(of name: String) -> String { folder.appending(name).string }
}
