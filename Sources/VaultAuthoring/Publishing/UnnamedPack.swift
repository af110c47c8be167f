import PackSealing
import SealedPack
import SystemPackage
import VaultArchive
import VaultErrors
import VaultFileSystem

/// A sealed pack that only lacks its name, which follows from its content.
struct UnnamedPack: ~Copyable {
    let result: SealingResult
    private let scratch: ScratchFile

    private init(result: SealingResult, scratch: consuming ScratchFile) {
        self.result = result
        self.scratch = scratch
    }

    static func seal(
        _ order: SealingRequest, _ source: borrowing SourceFolder, in folder: FilePath,
        progress: (UInt64) -> Void
    ) async throws(VaultError) -> UnnamedPack {
        try FileSystem.createFolders(folder, permissions: 0o755)
        let scratch = try ScratchFile(for: folder.appending("pack"))
        let output = OpenFileReference(try OpenFile(duplicating: scratch.file.descriptor, named: folder))
        let result = try await order.seal(source, into: output, progress: progress)
        return UnnamedPack(result: result, scratch: scratch)
    }

    consuming func name(as path: FilePath) throws(VaultError) {
        try scratch.commit(as: path.lastComponent?.string ?? "", permissions: 0o644, replacing: false)
    }
}
