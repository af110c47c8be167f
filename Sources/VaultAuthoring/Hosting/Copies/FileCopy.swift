import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultSite
import VaultTransport

/// A listed file that is to be in a folder as it was signed. It is made beside, verified, and then gets its name: until then a file that
/// is there stays as it is.
struct FileCopy {
    let target: TargetRecord
    /// Where it comes from.
    let location: SiteLocation
    let transport: any Transport
    var meter = ThroughputMeter()
    let path: FilePath
    /// What has arrived; an interrupted copy continues in it.
    let partial: FilePath

    /// Makes the file, unless it is there and sound: then it is not touched.
    ///
    /// - Parameter others: other versions of a pack.
    /// - Returns: the number of bytes that were fetched; nil for a sound file.
    /// - Throws: `busy` while another process makes it; `corrupt` where the source has another file.
    func complete(
        reusing others: [PackFile] = [], _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) -> UInt64? {
        observe(WorkProgress(.checking, target))
        guard !target.isSound(at: path) else { return nil }
        return try await make(reusing: others) { observe(WorkProgress(.fetching, target, $0)) }
    }

    /// Sound pieces of a damaged file and of other versions are used again; the rest is fetched.
    private func make(
        reusing others: [PackFile], _ observe: (UInt64) -> Void
    ) async throws(VaultError) -> UInt64 {
        let file = try claim()
        let fetched: UInt64
        if let pack = try? ListedPack(target).pack {
            if try file.file.status().size == 0, let old = try? OpenFile(reading: path) {
                try copyReadable(old, to: file.file)
            }
            var arrival = PackArrival(pack, from: source, reusing: others)
            do throws(VaultError) { try await arrival.complete(file, observe) } catch {
                // There is nothing to continue with.
                if arrival.fetched == 0 { try? FileSystem.removeFile(partial) }
                throw error
            }
            fetched = arrival.fetched
        } else {
            fetched = try await download(to: file, observe)
        }
        do throws(VaultError) { try target.verify(file, at: location.description) } catch {
            // It would be wrong again.
            try? FileSystem.removeFile(partial)
            throw error
        }
        let folder = path.removingLastComponent()
        if !folder.isEmpty { try FileSystem.createFolders(folder, permissions: 0o755) }
        try FileSystem.move(partial, to: path, replacing: true)
        try Folder(opening: folder.isEmpty ? "." : folder).synchronize()
        FailPoint.reach("copied")
        return fetched
    }

    /// A file without pieces, of which nothing is verified before the end.
    private func download(
        to file: OpenFileReference, _ observe: (UInt64) -> Void
    ) async throws(VaultError) -> UInt64 {
        let present = try file.file.status().size
        let rest = (present <= target.length ? present : 0)..<target.length
        var fetched: UInt64 = 0
        try await source.read(rest) { (bytes, offset) throws(VaultError) in
            try file.file.write(bytes.span, at: offset)
            fetched += UInt64(bytes.count)
            observe(offset + UInt64(bytes.count))
        }
        try file.file.truncate(to: target.length)
        try file.file.synchronize()
        return fetched
    }

    private var source: RemoteFile {
        RemoteFile(
            location, of: target.path, length: target.length, transport: transport,
            remedy: "name another host of the site", meter: meter)
    }

    /// The partial file, locked.
    private func claim() throws(VaultError) -> OpenFileReference {
        try FileSystem.createFolders(partial.removingLastComponent(), permissions: 0o755)
        let isNew = try !FileSystem.exists(partial)
        let file =
            isNew ? try OpenFile(creating: partial, permissions: 0o644) : try OpenFile(updating: partial)
        guard try file.tryLock(exclusive: true), try file.isStill(at: partial) else {
            throw VaultError(
                .busy, "another process is writing it", at: partial.string,
                remedy: "try again when it is done")
        }
        guard try file.status().hardLinks == 1 else {
            throw VaultError(
                .unwritable, "it has another name, whose file would be written, too", at: partial.string,
                remedy: "remove it")
        }
        return OpenFileReference(file)
    }

    /// The damaged file, whose sound pieces then need not be fetched. A part that a disk can't read stays a hole.
    private func copyReadable(_ old: borrowing OpenFile, to file: borrowing OpenFile) throws(VaultError) {
        var block: [UInt8] = []
        for start in stride(from: 0, to: min(try old.status().size, target.length), by: 1 << 20) {
            let count = Int(min(1 << 20, target.length - start))
            guard (try? old.read(into: &block, upTo: count, at: start)) != nil else { continue }
            try file.write(block.span, at: start)
        }
        try file.truncate(to: target.length)
    }
}

/// A pack that arrives piece by piece, each verified by the signed index.
private struct PackArrival {
    private let pack: PackManifest
    private let source: RemoteFile
    private var failures: HostFailures
    private var budget: TransferBudget
    private var others: ArraySlice<PackFile>
    private(set) var fetched: UInt64 = 0

    init(_ pack: PackManifest, from source: RemoteFile, reusing others: [PackFile]) {
        (self.pack, self.source, self.others) = (pack, source, others[...])
        failures = source.noFailures
        budget = TransferBudget(
            of: source.location.description, length: pack.length, parts: UInt64(pack.pieceCount))
    }

    /// Fills the file, and saves it.
    mutating func complete(_ file: OpenFileReference, _ observe: (UInt64) -> Void) async throws(VaultError) {
        var assembly = try PackAssembly(file, of: pack)
        _ = try await assembly.verifyTail()
        let isForAll = assembly.isEmpty && assembly.prefersSingleRequest(hasReusablePacks: !others.isEmpty)
        while true {
            if !assembly.isTailUnverified {
                var next = others
                others = []
                try await assembly.reuse(from: { next.popFirst() }, progress: observe)
            }
            guard let wanted = try assembly.wanted() else { break }
            let before = assembly.receivedLength
            try budget.takeRequest()
            do throws(TransferFailure) {
                let part = isForAll && assembly.isEmpty ? nil : wanted
                try await receive(try await source.open(part), into: &assembly, observe)
                guard try wantsOther(than: wanted, &assembly) else { throw TransferFailure(wrongBytes) }
            } catch {
                // What has arrived of a piece is kept, whoever sends the rest.
                failures.noteFailure(after: assembly.receivedLength - min(before, assembly.receivedLength))
                try await source.wait(after: error, failures)
            }
        }
        _ = try assembly.finish()
    }

    private func wantsOther(
        than wanted: Range<UInt64>, _ assembly: inout PackAssembly
    ) throws(TransferFailure) -> Bool {
        do throws(VaultError) { return try assembly.wanted() != wanted } catch {
            throw TransferFailure(error)
        }
    }

    private mutating func receive(
        _ content: RemoteFile.Content, into assembly: inout PackAssembly, _ observe: (UInt64) -> Void
    ) async throws(TransferFailure) {
        let body = BodyReader(content.body)
        var (count, budget) = (UInt64(0), budget)
        defer {
            fetched += count
            self.budget = budget
        }
        do throws(VaultError) {
            let wrong = try await assembly.receive(
                at: content.range.lowerBound,
                from: IncomingBytes { () async throws(VaultError) in try await body.next() },
                check: { (bytes: [UInt8]) throws(VaultError) in
                    count += UInt64(bytes.count)
                    try budget.take(bytes.count)
                    guard count <= UInt64(content.range.count) else { throw wrongBytes }
                }, progress: observe)
            guard try await assembly.verifyTail(), wrong == 0 else { throw wrongBytes }
        } catch {
            throw TransferFailure(error.category == .corrupt ? wrongBytes : error)
        }
    }

    private var wrongBytes: VaultError {
        VaultError(
            .corrupt, "the host sends other bytes than were signed", at: source.location.description,
            remedy: "name another host of the site, and audit this one")
    }
}
