public import SealedPack
import SystemPackage
public import VaultBase
import VaultCrypto
import VaultFileSystem

/// A pack whose files can be read before it is loaded, one by one: what has arrived of a file is taken from the store, and the rest is
/// downloaded, the pieces of that file alone. Every byte is verified as that of a loaded pack.
///
/// Index and catalog are read once, so keep it for several reads. Nothing of it is visible in the store, and it does not disturb a
/// download of the whole pack at the same time. Once this version is loaded, it is read from there.
public struct EarlyPack: Sendable {
    public let id: PackID
    public let version: UInt64
    private let source: Source

    private enum Source: Sendable {
        case loaded(HeldPack)
        case arriving(ArrivingPack, in: VaultStore)
    }

    init(_ held: HeldPack) { (id, version, source) = (held.id, held.version, .loaded(held)) }

    init(_ arriving: ArrivingPack, named id: PackID, in store: VaultStore) {
        (self.id, version, source) = (id, arriving.opened.version, .arriving(arriving, in: store))
    }

    /// What is read now: the pack may have been loaded since.
    private var presentSource: Source {
        get async {
            guard case .arriving(let pack, let store) = source,
                let lease = try? await store.loadedLease(of: id), pack.isLoaded(by: lease)
            else { return source }
            return .loaded(HeldPack(lease, in: store))
        }
    }

    /// All files, in the order of their paths.
    public var files: [PackEntry] {
        get async throws(VaultError) {
            switch source {
            case .loaded(let pack): try await pack.files
            case .arriving(let pack, _): pack.opened.catalog.files
            }
        }
    }

    /// Bytes of one file. Throws `.missing` for an unknown file.
    public func size(of path: String) async throws(VaultError) -> UInt64 {
        let path = try EntryPath(path)
        switch source {
        case .loaded(let pack): return try await pack.reader(path.string).size
        case .arriving(let pack, _): return UInt64(try pack.content(of: path, in: id).count)
        }
    }

    /// The bytes of one file. Throws `.missing` for an unknown file, `.corrupt` for damage, and what a download throws, such as
    /// `.unreachable`.
    public func bytes(_ path: String) async throws(VaultError) -> [UInt8] { try await read(path, nil) }

    /// A part of one file. Throws `.usage` for a range beyond the file.
    public func bytes(_ path: String, in range: Range<UInt64>) async throws(VaultError) -> [UInt8] {
        try await read(path, range)
    }

    private func read(_ path: String, _ part: Range<UInt64>?) async throws(VaultError) -> [UInt8] {
        let path = try EntryPath(path)
        switch await presentSource {
        case .loaded(let pack):
            let reader = try await pack.reader(path.string)
            return try await reader.read(part ?? 0..<reader.size)
        case .arriving(let pack, let store):
            let content = try pack.content(of: path, in: id)
            let range = part ?? 0..<UInt64(content.count)
            guard range.upperBound <= UInt64(content.count) else {
                throw VaultError(
                    .usage, "the file has \(content.count) bytes, not \(range.upperBound)", at: path.string,
                    remedy: "ask for less")
            }
            store.reads?.note(path, in: id)
            let start = content.lowerBound + range.lowerBound
            return try await pack.read(start..<(start + UInt64(range.count)))
        }
    }
}

/// A pack of which the store has a part, or nothing: its index and catalog are in a file without a name, and the pieces that were
/// downloaded for its readers.
struct ArrivingPack: Sendable {
    let opened: OpenPack
    private let file: OpenFileReference
    private let download: PackDownload
    private let layout: StoreLayout

    /// - Throws: `.key` where no key opens it, and what a download throws.
    init(_ offer: LocatedPack, by stager: PackStager, with keys: any KeyProvider) async throws(VaultError) {
        layout = stager.store.layout
        try layout.makeEphemeral()
        file = OpenFileReference(try OpenFile(namelessIn: layout.ephemeral))
        let arrival = DownloadFile(layout: layout, pack: offer.pack)
        var download = stager.newDownload(of: offer, to: arrival, restingOn: nil)
        // The download of the whole pack is a source.
        download.reusable = stager.reusablePacks.pieces(
            of: offer.pack, besides: file.file.path, restingOn: nil, hasOthers: arrival.hasBegun)
        self.download = download
        try await download.bringTail(into: file)
        opened = try await OpenPack(PackFile(file, as: offer.pack), keys: keys)
    }

    /// Whether this version is the loaded one.
    func isLoaded(by lease: PackLease) -> Bool {
        lease.root.lastComponent?.string == VersionName(of: download.pack, as: lease.form).text
    }

    func content(of path: EntryPath, in id: PackID) throws(VaultError) -> Range<UInt64> {
        guard let entry = opened.catalog.entry(at: path), entry.kind != .emptyFolder else {
            throw VaultError(
                .missing, "the pack '\(id)' has no such file in version \(opened.version)", at: path.string,
                remedy: "check the path")
        }
        return entry.content
    }

    /// Verified bytes of the content. A piece may be in the tree that the pack is being opened into, or here from an earlier read, else in
    /// a file of the store, else at a host.
    @concurrent func read(_ content: Range<UInt64>) async throws(VaultError) -> [UInt8] {
        let pieces = opened.catalog.pieces(containing: content)
        let path = layout.arrivingTree(of: download.pack)
        let tree = try FileSystem.exists(path) ? OpenedTree(path, of: opened) : nil
        var plain: [Int: ArraySlice<UInt8>] = [:]
        for piece in pieces {
            plain[piece] =
                (try? tree?.plaintext(ofPiece: piece)).map { $0[...] }
                ?? (try? opened.plaintext(ofPiece: piece))
        }
        let missing = Set(pieces.filter { plain[$0] == nil })
        if !missing.isEmpty {
            var download = download
            var assembly = try PackAssembly(of: missing, in: opened.pack, download.pack)
            try await download.fill(&assembly)
        }
        var result: [UInt8] = []
        for piece in pieces {
            let range = opened.catalog.pieceRange(piece)
            let part = range.clamped(to: content)
            let known = plain.removeValue(forKey: piece)
            let bytes = if let known { known } else { try opened.plaintext(ofPiece: piece) }
            let start = bytes.startIndex + Int(part.lowerBound - range.lowerBound)
            result += bytes[start..<(start + part.count)]
        }
        return result
    }
}

extension PackDownload {
    /// Brings index and catalog into a file of its own, from the store as far as they are there.
    fileprivate mutating func bringTail(into own: OpenFileReference) async throws(VaultError) {
        var assembly = try PackAssembly(own, of: pack)
        for part in file.parts where assembly.isTailUnverified { try await assembly.takeTail(of: part) }
        try await fill(&assembly, begin: { _, assembly in assembly.leaveOut { _ in true } })
    }
}

extension DownloadFile {
    /// The files that may have a part of the pack, its index and catalog first of all.
    fileprivate var parts: [OpenFileReference] {
        let downloads = layout.downloads(of: pack).map { (layout.ephemeralArea, $0) }
        return (downloads + [(layout.sharedArea, layout.waitingPack(pack))]).compactMap { area, path in
            guard let opened = try? area.openFile(path) else { return nil }
            return OpenFileReference(opened)
        }
    }

    /// Whether a part of the pack has arrived.
    var hasBegun: Bool { !parts.isEmpty }
}

extension Catalog {
    var files: [PackEntry] {
        (0..<entryCount).compactMap { index in
            guard let entry = entry(index), entry.kind != .emptyFolder else { return nil }
            return PackEntry(path: entry.path, size: entry.size)
        }
    }
}
