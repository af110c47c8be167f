public import SealedPack
public import SystemPackage
public import VaultArchive
public import VaultErrors
import VaultFileSystem

/// Makes a pack file and the descriptor beside it. Neither has its name before it is complete and on the disk.
public struct PackFileSealing: Sendable {
    public let pack: FilePath
    public let descriptor: FilePath
    /// Whether existing regular files may be replaced; nothing else ever is.
    public let replacing: Bool

    public init(pack: FilePath, descriptor: FilePath? = nil, replacing: Bool) throws(VaultError) {
        self.pack = pack
        self.descriptor = descriptor ?? PackDescriptorFile.path(beside: pack)
        self.replacing = replacing
        guard self.pack.lexicallyNormalized() != self.descriptor.lexicallyNormalized() else {
            throw VaultError(
                .usage, "pack and descriptor can't be one file", at: pack.string,
                remedy: "give the descriptor another name")
        }
        for path in [self.pack, self.descriptor] {
            try DurableFile.requireWritable(path, replacing: replacing)
        }
    }

    /// Seals `source`. The descriptor waits as `PACK.json.next` while the pack gets its name, so that at every moment
    /// one of the two descriptors is that of the pack that is there.
    public func run(
        _ order: SealingOrder, _ source: borrowing SourceFolder, progress: (UInt64) -> Void = { _ in }
    ) async throws(VaultError) -> SealingResult {
        let scratch = try ScratchFile(for: pack)
        let output = OpenFileReference(try OpenFile(duplicating: scratch.file.descriptor, named: pack))
        let result = try await order.seal(source, into: output, progress: progress)
        let next = PackDescriptorFile.next(descriptor)
        let description = PackDescriptorFile.bytes(of: result.descriptor)
        try scratch.file.synchronize()
        try DurableFile.write(description.span, to: next, permissions: 0o644, replacing: true)
        do throws(VaultError) {
            try scratch.commit(permissions: 0o644, replacing: replacing)
        } catch {
            // Where only saving the folder failed, the pack has its name and needs this descriptor.
            if (try? PackFile(opening: pack, as: result.descriptor)) == nil { try? FileSystem.unlink(next) }
            throw error
        }
        try FileSystem.move(next, to: descriptor, replacing: true)
        let folder = descriptor.removingLastComponent()
        try Folder(opening: folder.isEmpty ? "." : folder).synchronize()
        return result
    }
}
