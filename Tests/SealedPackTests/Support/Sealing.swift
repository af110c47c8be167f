import SealedPack
import SystemPackage
import TestFiles
import VaultAuthoring
import VaultBase
import VaultFileSystem

/// A pack that the module sealed.
struct Sealed {
    let bytes: [UInt8]
    let result: SealingResult
    var manifest: PackManifest { result.manifest }
    var parts: PackParts { PackParts(of: bytes) }
}

/// Seals the folder at `source`.
func seal(
    folder source: FilePath, key: ContentKey, id: String = "levels/one",
    _ versioning: PackVersioning = .exactly(1),
    slots: [KeySlot] = [], previous: OpenPack? = nil, first: [String] = [],
    progress: (UInt64) -> Void = { _ in }
) async throws -> Sealed {
    let folder = try TemporaryFolder()
    var order = SealingRequest(
        id: try PackID(id), versioning: versioning, key: key, slots: slots, previous: previous)
    order.first = try FirstFiles(patterns: first)
    let scanned = try SourceFolder(scanning: source)
    let output = OpenFileReference(
        try OpenFile(creating: folder.path.appending("pack"), permissions: 0o644))
    let result = try await order.seal(scanned, into: output, progress: progress)
    return Sealed(bytes: try folder.bytes("pack"), result: result)
}

/// Seals `source` out of a fresh folder.
func seal(
    _ source: Source, key: ContentKey, id: String = "levels/one", _ versioning: PackVersioning = .exactly(1),
    slots: [KeySlot] = [], previous: OpenPack? = nil, first: [String] = []
) async throws -> Sealed {
    let folder = try TemporaryFolder()
    return try await seal(
        folder: try source.write(to: folder, as: "source"), key: key, id: id, versioning, slots: slots,
        previous: previous, first: first)
}

extension Source {
    /// A few kilobytes in several pieces, of both codecs, with entries of every kind; `text` is what v2 changes.
    static func small(text: String = "first") throws -> Source {
        var source = Source(executables: ["run"], emptyFolders: ["later/maps"])
        for number in 0..<32 { source.files["levels/\(number)"] = prose(40 + number, seed: number) }
        // A large file with its own pieces separates the runs of small files; it compresses well.
        source.files["middle"] = [UInt8](repeating: 7, count: 8 << 10)
        source.files["noise"] = noise(70)
        source.files["title"] = Array(text.utf8)
        source.files["run"] = Array("#!/bin/sh\n".utf8)
        source.files["nothing"] = []
        return source
    }
}
