import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem
import VaultTransport

/// Brings one pack into ephemeral storage and proves it: exactly the declared length, exactly the signed digest.
/// Targets are named by their digest and never change, so an interrupted download goes on where it stopped.
struct PackDownload {
    let transport: any Transport
    let location: SiteLocation
    let pack: PackDescriptor
    let path: FilePath
    var retries = RetryPolicy()

    /// Room that stays free beside the download.
    private static let spareRoom: UInt64 = 16 << 20

    /// Returns the verified file, locked against other processes until it is let go. On failure the bytes that came
    /// stay for the next attempt, unless they are not the pack's.
    func run(progress: (UInt64) -> Void) async throws(VaultError) -> OpenFileReference {
        var part = try PartialFile(at: path, of: pack)
        try part.adopt()
        try makeRoom(beyond: part.count)
        var generator = SystemRandomNumberGenerator()
        var failures = 0
        while true {
            do throws(VaultError) {
                try await transfer(into: &part, progress: progress)
                if part.hasPackDigest() { break }
                // Bytes of an earlier attempt may have been damaged on disk: once more from the start.
                let mayBeStale = part.isResumed
                try part.restart()
                guard mayBeStale else { throw wrongDigest }
            } catch {
                failures += 1
                guard let pause = retries.delay(afterFailures: failures, error, using: &generator) else {
                    throw error
                }
                do { try await Task.sleep(for: pause) } catch {
                    throw VaultError.cancelled(pack.id.description)
                }
            }
        }
        try part.file.synchronize()
        let reference = part.finished()
        _ = try PackFile(reference, as: pack)
        return reference
    }

    private func transfer(into part: inout PartialFile, progress: (UInt64) -> Void) async throws(VaultError) {
        progress(part.count)
        guard part.count < pack.length else { return }
        var request = TransportRequest(location, limit: pack.length)
        if part.count > 0 { request.range = ByteRange(part.count...) }
        let body: TransportBody
        var beginsAnew = false
        switch try await transport.get(request) {
        case .part(let range, let rest):
            guard range.first == part.count, range.total == pack.length else {
                throw wrongLength(range.total)
            }
            body = rest
        case .whole(let all):
            if let length = all.length, length != pack.length { throw wrongLength(length) }
            body = all
            beginsAnew = true
        case .outOfRange(let total): throw wrongLength(total ?? 0)
        case .busy(let wait): throw .busyHost(location, retryAfter: wait)
        case .absent:
            throw VaultError(
                .unavailable, "the site lists '\(pack.id)' but does not have it", at: location.description,
                remedy: "try again later or tell the publisher")
        }
        for try await bytes in body {
            if Task.isCancelled { throw VaultError.cancelled(pack.id.description) }
            if beginsAnew {
                // The page of a captive portal costs nothing that is there, and is not gone on with.
                guard PackFile.mayBegin(with: bytes) else { throw noPack }
                try part.restart()
                beginsAnew = false
            }
            try part.append(bytes)
            progress(part.count)
        }
        guard part.count == pack.length else {
            throw VaultError(
                .unavailable, "the file ended after \(part.count) of \(pack.length) bytes",
                at: location.description,
                remedy: "try again")
        }
    }

    private func makeRoom(beyond present: UInt64) throws(VaultError) {
        let needed = pack.length - present + Self.spareRoom
        let free = try FileSystem.availableSpace(at: path.removingLastComponent())
        guard needed <= free else {
            throw VaultError(
                .io, "the disk is full: \(needed) bytes are needed, \(free) are free",
                at: path.removingLastComponent().string, remedy: "free some space")
        }
    }

    private func wrongLength(_ count: UInt64) -> VaultError {
        VaultError(
            .corrupt, "the file has \(count) bytes, not the \(pack.length) declared",
            at: location.description,
            remedy: "try another mirror or tell the publisher")
    }

    private var noPack: VaultError {
        VaultError(
            .corrupt, "the host sent something that is no pack", at: location.description,
            remedy: "check that no login page stands in the way, or try another mirror")
    }

    private var wrongDigest: VaultError {
        VaultError(
            .corrupt, "the file has the wrong digest", at: location.description,
            remedy: "try another mirror or tell the publisher")
    }
}
