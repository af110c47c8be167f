import SealedPack
public import UpdateFramework
import VaultBase
import VaultSite

/// The metadata of a site that must stay, and the packs that it lists.
struct KeptMetadata {
    /// All files that have a version in their name.
    let files: [MetadataFileName]
    private(set) var kept: [MetadataFileName: Keeping] = [:]
    /// By the hosted path below the folder of targets.
    private(set) var keptTargets: [String: Keeping] = [:]

    /// Why a file stays.
    enum Keeping {
        /// It is published now, or it is a root.
        case current
        case earlier(KeepingReason)

        var reason: KeepingReason? {
            guard case .earlier(let reason) = self else { return nil }
            return reason
        }

        /// The stronger of two: first current, then kept without end, then kept longer.
        func joined(with other: Keeping?) -> Keeping {
            switch (self, other) {
            case (_, nil), (.current, _): self
            case (_, .current?): .current
            case (.earlier(.listedBy(_, let until)), .earlier(.listedBy(_, let later))?):
                until < later ? other ?? self : self
            case (.earlier(.listedBy), .some(let other)): other
            default: self
            }
        }
    }

    /// For each hosted path the newest file that lists it.
    private(set) var lastListing: [String: MetadataFileName] = [:]
    /// In bytes, by hosted path.
    private(set) var lengths: [String: UInt64] = [:]
    /// By the name without the version, sorted by version.
    private let filesByName: [String: [MetadataFileName]]

    /// - Parameters:
    ///   - versions: how many versions of each pack stay.
    ///   - roots: all roots of the site.
    init(
        in folder: MetadataFolder, tree: TargetTree, now: UTCTime, versions: Int,
        under roots: [VerifiedRoot]
    ) throws(VaultError) {
        files = try folder.versions()
        filesByName = Dictionary(grouping: files, by: \.unversionedName).mapValues {
            $0.sorted { $0.version < $1.version }
        }
        for file in files where file.role == .root { kept[file] = .current }
        for record in tree.recordsOfAllChannels { keptTargets[record.hostedPath] = .current }
        for document in tree.numberedDocuments { kept[document.fileName] = .current }
        try keepListed(in: folder, now)
        try keepNewest(versions, in: folder, tree, roots)
    }

    /// Keeps what is sealed and waits for a signature.
    mutating func keepTargets(listedIn pending: MetadataFolder) throws(VaultError) {
        for file in try pending.versions() {
            for record in try pending.pendingMetadata(in: file)?.records ?? [] {
                keepTarget(record.hostedPath, .pending)
            }
        }
    }

    /// The version of the same role that came after a file.
    func successor(of file: MetadataFileName) -> MetadataFileName? {
        let versions = filesByName[file.unversionedName] ?? []
        let next = versions.indices.partitionPoint { versions[$0].version > file.version }
        return versions[next...].first
    }

    private mutating func keep(_ file: MetadataFileName, _ reason: KeepingReason) {
        kept[file] = Keeping.earlier(reason).joined(with: kept[file])
    }

    private mutating func keepTarget(_ path: String, _ reason: KeepingReason) {
        keptTargets[path] = Keeping.earlier(reason).joined(with: keptTargets[path])
    }

    /// What unexpired snapshots list, with the packs that these files list. Each file is read once, for the snapshot that lasts longest.
    private mutating func keepListed(in folder: MetadataFolder, _ now: UTCTime) throws(VaultError) {
        var reasons: [MetadataFileName: Keeping] = [:]
        for file in files where file.role == .snapshot {
            guard let snapshot = try folder.parsableMetadata(in: file)?.document, now < snapshot.expires
            else { continue }
            let keeping = Keeping.earlier(.listedBy(file.hostedName, until: snapshot.expires))
            for listed in [file] + snapshot.listedFiles {
                reasons[listed] = keeping.joined(with: reasons[listed])
            }
        }
        for file in files {
            guard let reason = reasons[file]?.reason else { continue }
            keep(file, reason)
            guard file.role?.type == .targets else { continue }
            do throws(VaultError) {
                for record in try folder.metadata(in: file)?.records ?? [] {
                    keepTarget(record.hostedPath, reason)
                }
            } catch {
                guard [.untrusted, .corrupt].contains(error.category) else { throw error }
                // Nobody knows which packs it lists.
                throw error.with(
                    at: folder.place(of: file.hostedName),
                    remedy:
                        "put the publisher's copy of it there; or remove it, and with it the packs that it alone lists"
                )
            }
        }
    }

    private struct Listing {
        let file: MetadataFileName
        let target: String
        /// Whether only keys have signed it that the newest root does not name.
        let isDoubtful: Bool
    }

    /// The newest file that lists each of the last versions of a pack. What removed keys alone have signed comes last: a thief of one
    /// could sign as many higher versions as stay.
    private mutating func keepNewest(
        _ count: Int, in folder: MetadataFolder, _ tree: TargetTree, _ roots: [VerifiedRoot]
    ) throws(VaultError) {
        let signers = PackSigners(under: roots, of: tree)
        let history = SignatureHistory(of: .targets, under: roots)
        var listings: [[UInt8]: [UInt64: Listing]] = [:]
        for file in files.filter({ $0.role?.type == .targets }).sorted(by: { $0.version > $1.version }) {
            guard let metadata = try folder.parsableMetadata(in: file) else { continue }
            let isDoubtful = file.role?.listsOwnPacks ?? false && history.standing(of: metadata) != .current
            for record in try metadata.records where signers.authorize(record, in: metadata) {
                if lastListing[record.hostedPath] == nil {
                    lastListing[record.hostedPath] = file
                    lengths[record.hostedPath] = record.length
                }
                guard let pack = try? ListedPack(record).pack else { continue }
                let path = Array(record.path.utf8)
                if let known = listings[path]?[pack.version], isDoubtful || !known.isDoubtful { continue }
                listings[path, default: [:]][pack.version] = Listing(
                    file: file, target: record.hostedPath, isDoubtful: isDoubtful)
            }
        }
        for versions in listings.values {
            let sorted = versions.sorted { first, second in
                let isEqual = first.value.isDoubtful == second.value.isDoubtful
                return isEqual ? first.key > second.key : second.value.isDoubtful
            }
            for (_, listing) in sorted.prefix(count) {
                keep(listing.file, .restorable)
                keepTarget(listing.target, .restorable)
            }
        }
    }
}

/// Why a file of a site stays that is not part of what is published now.
public enum KeepingReason: Sendable, Hashable {
    /// This snapshot lists it, or lists what lists it; a client may hold it until it expires.
    case listedBy(String, until: UTCTime)
    /// It belongs to one of the last versions of a pack, so that it can be restored.
    case restorable
    /// A draft that waits for signatures lists it.
    case pending
    /// It was live less than the grace time ago.
    case recent(until: UTCTime)
}

extension KeepingReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .listedBy(let name, let until): "kept by \(name) until \(until)"
        case .restorable: "kept for restore"
        case .pending: "kept for what waits in pending/"
        case .recent(let until): "kept until \(until): it was live a short time ago"
        }
    }
}
