import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultTransport

/// The file of a target, wherever it is hosted.
struct TargetFile {
    let target: TargetRecord
    let location: SiteLocation
    let transport: any Transport
    /// Where downloads are kept while they are looked at.
    let scratch: FilePath
    /// Of all files that come from this host.
    var meter = ThroughputMeter()

    /// The file where it lies in a folder; from a host a copy without a name, which is gone when it is closed, even if this process
    /// is killed. The bytes are not verified yet, but never more than the signed length.
    func open(progress: (UInt64) -> Void) async throws(VaultError) -> OpenFileReference {
        guard let path = location.path else { return try await download(progress) }
        do throws(VaultError) {
            return OpenFileReference(try OpenFile(reading: path))
        } catch {
            guard error.category == .missing else { throw error }
            throw VaultError(
                .corrupt, "the site lists it, but it is not there", at: path.string,
                remedy: "put the publisher's copy of it there", code: "missing-file")
        }
    }

    /// The file grows with what arrives. Its length is not reserved: an unpinned site may claim any.
    private func download(_ progress: (UInt64) -> Void) async throws(VaultError) -> OpenFileReference {
        let file = try OpenFile(namelessIn: scratch)
        let hosted = RemoteFile(
            location, of: target.path, length: target.length, transport: transport,
            remedy: "upload the publisher's copy of it", meter: meter)
        try await hosted.read(0..<target.length) { (bytes, offset) throws(VaultError) in
            try file.write(bytes.span, at: offset)
            progress(offset + UInt64(bytes.count))
        }
        return OpenFileReference(file)
    }
}

extension TargetRecord {
    /// Throws `corrupt` unless the file has the signed length and digest.
    func verify(_ file: OpenFileReference, at place: String) throws(VaultError) {
        guard try file.file.hasContent(length: length, hashes.sha256) else {
            throw VaultError(
                .corrupt, "the file is not the one that was signed for", at: place,
                remedy: "put the publisher's copy of it there again", code: "wrong-file")
        }
    }

    /// Whether a file is there with the signed length and digest. What can't be read is damaged.
    func isSound(at path: FilePath) -> Bool {
        guard let file = try? OpenFile(reading: path) else { return false }
        return (try? file.hasContent(length: length, hashes.sha256)) ?? false
    }
}
