public import SealedPack
public import SystemPackage
public import VaultArchive
public import VaultErrors
import VaultFileSystem

/// Makes a pack file and the descriptor beside it. Neither has its name before it is complete and on the disk.
public struct PackFileSealing: Sendable {
    public let pack: FilePath
    public let descriptor: FilePath
    /// Whether existing files may be replaced; folders never are.
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
            guard let status = try FileSystem.status(of: path, followingLinks: true) else { continue }
            if status.kind == .folder || !replacing {
                throw VaultError(
                    .unwritable, "it exists already", at: path.string,
                    remedy: status.kind == .folder
                        ? "choose another name" : "choose another name, or replace it with --force")
            }
        }
    }

    /// Seals `source`. The descriptor gets its name first: a pack that has its name can be opened.
    public func run(
        _ order: SealingOrder, _ source: borrowing SourceFolder, progress: (UInt64) -> Void = { _ in }
    ) async throws(VaultError) -> SealingResult {
        let scratch = try ScratchFile(for: pack)
        let output = OpenFileReference(try OpenFile(duplicating: scratch.file.descriptor, named: pack))
        let result = try await order.seal(source, into: output, progress: progress)
        let description = PackDescriptorFile.bytes(of: result.descriptor)
        try scratch.file.synchronize()
        try DurableFile.write(description.span, to: descriptor, permissions: 0o644, replacing: replacing)
        try scratch.commit(permissions: 0o644, replacing: replacing)
        return result
    }
}
