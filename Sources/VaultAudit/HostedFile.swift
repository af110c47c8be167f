import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite
import VaultTransport

/// Gets at a target's file wherever it is hosted.
struct HostedFile {
    let target: TargetRecord
    let location: SiteLocation
    let transport: any Transport
    /// Where downloads are kept while they are looked at.
    let scratch: FilePath

    /// The file where it lies in a folder; from a host a copy without a name, which is gone when it is closed, even if
    /// this process is killed. The bytes are verified by nobody yet, only never more than are signed for.
    func open(progress: (UInt64) -> Void) async throws(VaultError) -> OpenFileReference {
        guard let path = location.path else { return try await download(progress) }
        do throws(VaultError) {
            return OpenFileReference(try OpenFile(reading: path))
        } catch {
            guard error.category == .missing else { throw error }
            throw VaultError(
                .corrupt, "the site lists it, but it is not there", at: path.string,
                remedy: "put the publisher's copy of it there")
        }
    }

    /// The file grows with what arrives. Its length is not reserved: an unpinned site may claim any.
    private func download(_ progress: (UInt64) -> Void) async throws(VaultError) -> OpenFileReference {
        let file = try namelessFile()
        let hosted = SiteFile(location, length: target.length, transport: transport)
        try await hosted.read(0..<target.length) { (bytes, offset) throws(VaultError) in
            try file.write(bytes.span, at: offset)
            progress(offset + UInt64(bytes.count))
        }
        return OpenFileReference(file)
    }

    /// A file in a private folder that is removed at once: only the descriptor is left.
    private func namelessFile() throws(VaultError) -> OpenFile {
        let folder = try ScratchFolder(in: scratch)
        return try folder.folder.createFile("pack", permissions: 0o600)
    }
}
