import SealedPack
import SystemPackage
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// A download on its way: the first bytes of a pack, hashed as they arrive. The lock on the file tells other
/// processes that it is being written; it dies with its process.
struct PartialFile: ~Copyable {
    private let reference: OpenFileReference
    private let pack: PackDescriptor
    private(set) var count: UInt64 = 0
    private var digest = SHA256()
    /// Whether some of the bytes were on disk before.
    private(set) var isResumed = false

    /// The file at `path`, new or from an earlier attempt. Throws `.busy` while another process writes it.
    init(at path: FilePath, of pack: PackDescriptor) throws(VaultError) {
        let busy = VaultError(
            .busy, "another process is downloading '\(pack.id)'", at: path.string,
            remedy: "wait for it, or try again later")
        let isThere = try FileSystem.exists(path)
        let file: OpenFile
        do throws(VaultError) {
            file = try isThere ? OpenFile(updating: path) : OpenFile(creating: path, permissions: 0o600)
        } catch {
            // Made or moved on since it was looked for.
            throw try FileSystem.exists(path) == isThere ? error : busy
        }
        // Whoever had the lock may have moved the file on, or thrown it away.
        guard try file.tryLock(exclusive: true),
            try FileSystem.status(of: path)?.isSameFile(as: file.status()) == true
        else { throw busy }
        self.init(OpenFileReference(file), of: pack)
    }

    private init(_ reference: OpenFileReference, of pack: PackDescriptor) {
        self.reference = reference
        self.pack = pack
    }

    /// Takes over what an earlier attempt left: it is hashed again.
    mutating func adopt() throws(VaultError) {
        guard try file.status().size <= pack.length else { return try restart() }
        var block: [UInt8] = []
        while try file.read(into: &block, upTo: 1 << 20, at: count) > 0 {
            digest.update(block.span)
            count += UInt64(block.count)
        }
        isResumed = count > 0
    }

    mutating func append(_ bytes: [UInt8]) throws(VaultError) {
        guard UInt64(bytes.count) <= pack.length - count else {
            throw VaultError(
                .corrupt, "more bytes than the \(pack.length) declared", at: pack.id.description,
                remedy: "try another mirror or tell the publisher")
        }
        digest.update(bytes.span)
        try file.write(bytes.span, at: count)
        count += UInt64(bytes.count)
    }

    /// Throws the bytes away, to begin anew.
    mutating func restart() throws(VaultError) {
        try file.truncate(to: 0)
        _ = digest.finalize()
        count = 0
        isResumed = false
    }

    var file: OpenFile { _read { yield reference.file } }

    /// The file, still locked.
    consuming func finished() -> OpenFileReference { reference }

    /// Whether all bytes are there and are those of the pack.
    mutating func hasPackDigest() -> Bool {
        count == pack.length && digest.finalize() == pack.sha256
    }
}
