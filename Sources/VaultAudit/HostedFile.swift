import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultTransport

/// Gets at a target's file wherever it is hosted.
struct HostedFile {
    let target: TargetRecord
    let location: SiteLocation
    let transport: any Transport
    /// Where downloads are kept while they are looked at.
    let scratch: FilePath

    /// The file where it lies in a folder; from a host a copy without a name, which is gone when it is closed, even if
    /// this process is killed. The bytes are proven by nobody yet, only never more than are signed for.
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

    private func download(_ progress: (UInt64) -> Void) async throws(VaultError) -> OpenFileReference {
        let file = try namelessFile()
        try file.allocate(target.length)
        var count: UInt64 = 0
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while count < target.length {
            do throws(VaultError) {
                try await transfer(to: file, &count, progress)
            } catch {
                failures += 1
                guard let pause = RetryPolicy().delay(afterFailures: failures, error, using: &generator)
                else { throw error }
                do { try await Task.sleep(for: pause) } catch {
                    throw VaultError.cancelled(location.description)
                }
            }
        }
        try file.truncate(to: count)
        return OpenFileReference(file)
    }

    /// A file in a private folder that is removed at once: only the descriptor is left.
    private func namelessFile() throws(VaultError) -> OpenFile {
        let folder = try ScratchFolder(in: scratch)
        return try folder.folder.createFile("pack", permissions: 0o600)
    }

    /// Goes on after the first `count` bytes, where the host can.
    private func transfer(
        to file: borrowing OpenFile, _ count: inout UInt64, _ progress: (UInt64) -> Void
    ) async throws(VaultError) {
        var request = TransportRequest(location, limit: target.length)
        if count > 0 { request.range = ByteRange(count...) }
        let body: TransportBody
        switch try await transport.get(request) {
        case .part(let range, let rest):
            guard range.first == count, range.total == target.length else { throw wrongLength(range.total) }
            body = rest
        case .whole(let all):
            if let length = all.length, length != target.length { throw wrongLength(length) }
            count = 0
            body = all
        case .outOfRange(let total): throw wrongLength(total ?? 0)
        case .busy(let wait): throw .busyHost(location, retryAfter: wait)
        case .absent:
            throw VaultError(
                .unavailable, "the site lists it, but the host does not have it", at: location.description,
                remedy: "upload the publisher's copy of it")
        }
        for try await bytes in body {
            // A part has as many bytes as it should, and a whole at most those of the limit: see `TransportBody`.
            try file.write(bytes.span, at: count)
            count += UInt64(bytes.count)
            progress(count)
        }
        guard count == target.length else { throw wrongLength(count) }
    }

    private func wrongLength(_ count: UInt64) -> VaultError {
        VaultError(
            .corrupt, "the file has \(count) bytes, not the \(target.length) signed for",
            at: location.description, remedy: "upload the publisher's copy of it")
    }
}
