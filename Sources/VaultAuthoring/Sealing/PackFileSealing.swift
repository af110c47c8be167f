import SealedPack
public import SystemPackage
public import VaultBase
import VaultFileSystem

/// Makes a pack file and the manifest beside it. Each gets its name only when it is complete and on the disk.
public struct PackFileSealing: Sendable {
    public let pack: FilePath
    public let manifest: FilePath
    /// Whether existing regular files may be replaced; nothing else ever is.
    public let replacing: Bool

    public init(pack: FilePath, manifest: FilePath? = nil, replacing: Bool) throws(VaultError) {
        self.pack = pack
        self.manifest = manifest ?? PackManifestFile.path(beside: pack)
        self.replacing = replacing
        guard self.pack.lexicallyNormalized() != self.manifest.lexicallyNormalized() else {
            throw VaultError(
                .usage, "pack and manifest can't be one file", at: pack.string,
                remedy: "give the manifest another name")
        }
        for path in [self.pack, self.manifest] {
            try DurableFile.requireWritable(path, replacing: replacing)
        }
    }

    /// Seals `source`. The manifest waits as `PACK.json.next` while the pack gets its name, so that at every moment
    /// one of the two manifests is that of the pack that is there.
    public func run(
        _ order: SealingRequest, _ source: borrowing SourceFolder, progress: (UInt64) -> Void = { _ in }
    ) async throws(VaultError) -> SealingResult {
        let scratch = try ScratchFile(for: pack)
        let output = OpenFileReference(try OpenFile(duplicating: scratch.file.descriptor, named: pack))
        let result = try await order.seal(source, into: output, progress: progress)
        let pending = PackManifestFile.pending(manifest)
        let description = PackManifestFile.bytes(of: result.manifest)
        try scratch.file.synchronize()
        try DurableFile.write(description.span, to: pending, permissions: 0o644, replacing: true)
        do throws(VaultError) {
            try scratch.commit(permissions: 0o644, replacing: replacing)
        } catch {
            // Where only saving the folder failed, the pack has its name and needs this manifest.
            if (try? PackFile(opening: pack, as: result.manifest)) == nil {
                try? FileSystem.removeFile(pending)
            }
            throw error
        }
        try FileSystem.move(pending, to: manifest, replacing: true)
        let folder = manifest.removingLastComponent()
        try Folder(opening: folder.isEmpty ? "." : folder).synchronize()
        return result
    }
}

/// A sealed pack without its final name, which follows from its content.
struct UnnamedPack: ~Copyable {
    let result: SealingResult
    private let scratch: ScratchFile

    init(
        sealing order: SealingRequest, _ source: borrowing SourceFolder, in folder: FilePath,
        progress: (UInt64) -> Void
    ) async throws(VaultError) {
        try FileSystem.createFolders(folder, permissions: 0o755)
        let scratch = try ScratchFile(for: folder.appending("pack"))
        let output = OpenFileReference(try OpenFile(duplicating: scratch.file.descriptor, named: folder))
        result = try await order.seal(source, into: output, progress: progress)
        self.scratch = scratch
    }

    consuming func name(as path: FilePath) throws(VaultError) {
        try scratch.commit(as: path.lastComponent?.string ?? "", permissions: 0o644, replacing: false)
    }
}
