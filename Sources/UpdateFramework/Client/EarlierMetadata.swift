import SystemPackage
public import VaultBase
import VaultCrypto
import VaultFileSystem

/// The metadata before a refresh: the top-level files, and the delegated roles that were read under them. A refresh replaces one
/// file after the other, and reads only the delegated roles that it needs; the other roles can be looked up in these earlier files.
///
/// Each set is what the site published at one time, so that no two states are ever mixed. It is verified again when it is read:
/// targets that a revoked key signed do not count (``MetadataStore/firstEarlierState(_:)``).
struct EarlierMetadata {
    private let folder: FilePath
    /// The file with the SHA-256 of the snapshot of the last state that could be read completely.
    private let readableNote: FilePath
    private let permissions: UInt16

    private static let limit = 8
    /// This file is written last; without it a set is ignored.
    private static let topLevel: [MetadataRole] = [.targets, .snapshot, .timestamp]

    init(below store: FilePath, permissions: UInt16) {
        folder = store.appending("earlier")
        readableNote = store.appending("readable")
        self.permissions = permissions
    }

    /// The newest first.
    var sets: [StoredMetadata] {
        get throws(VaultError) { try completeSets().reversed().map { StoredMetadata(folder: path(of: $0)) } }
    }

    /// Keeps the present metadata of a store, unless an earlier refresh left it incomplete. The caller has the store's lock.
    func keep(_ store: MetadataStore, under root: VerifiedRoot) throws(VaultError) {
        var files: [MetadataRole: [UInt8]] = [:]
        for role in Self.topLevel { files[role] = try store.stored(role) }
        guard let chain = Self.chain(of: files, under: root) else { return }
        try removeUnknownEntries()
        let known = try completeSets()
        let set = path(of: (known.last ?? 0) + 1)
        // The files of a process that died while it wrote this set.
        try FileSystem.removeTree(set)
        try FileSystem.createFolders(set, permissions: permissions)
        let roles = try link(chain.snapshot.delegatedRoles, of: store, listedIn: chain, into: set)
        for role in Self.topLevel {
            guard let bytes = files[role] else { return }
            // Not durable: after a power failure they fail verification at worst.
            try CachedFile.write(
                bytes.span, to: set.appending(role.fileName), permissions: permissions & 0o644)
        }
        try removeSuperseded(among: known, by: roles, except: wholeSet)
    }

    /// Nil where none was noted.
    var wholeSnapshot: SHA256Digest? {
        guard let bytes = try? DurableFile.read(readableNote, limit: 64) else { return nil }
        return SHA256Digest(hex: String(decoding: bytes, as: UTF8.self))
    }

    /// See ``MetadataStore/noteReadable(_:)``. The caller has the store's lock.
    func noteReadable(_ snapshot: SHA256Digest) throws(VaultError) {
        try CachedFile.write(
            Array(snapshot.hex.utf8).span, to: readableNote, permissions: permissions & 0o644)
    }

    /// The newest set of the state that was noted.
    private var wholeSet: Int? {
        get throws(VaultError) {
            guard let digest = wholeSnapshot else { return nil }
            return try completeSets().last { set in
                let path = path(of: set).appending(MetadataRole.snapshot.fileName)
                let bytes = try? DurableFile.read(path, limit: MetadataRole.snapshot.sizeLimit)
                return bytes.map { SHA256.hash($0.span) } == digest
            }
        }
    }

    private static func chain(of files: [MetadataRole: [UInt8]], under root: VerifiedRoot) -> TrustChain? {
        func parsed(_ role: MetadataRole) -> UnverifiedMetadata? {
            files[role].flatMap { try? UnverifiedMetadata(parsing: $0, as: role, place: role.fileName) }
        }
        guard let timestamp = parsed(.timestamp), let snapshot = parsed(.snapshot),
            let targets = parsed(.targets), let chain = try? TrustChain.AtRoot(root, now: .earliest)
        else { return nil }
        return try? chain.timestamp(timestamp, after: nil).snapshot(snapshot, after: nil).targets(targets)
    }

    /// Links the stored roles that the snapshot lists as they are: unchanged ones take no space. Returns their names.
    private func link(
        _ roles: [MetadataRole], of store: MetadataStore, listedIn chain: TrustChain, into set: FilePath
    ) throws(VaultError) -> Set<String> {
        guard !roles.isEmpty else { return [] }
        let from = try Folder(opening: store.folder)
        let to = try Folder(opening: set)
        var linked: Set<String> = []
        for role in roles {
            guard let bytes = try store.stored(role), chain.lists(bytes, as: role) else { continue }
            do throws(VaultError) { try from.link(role.fileName, into: to, as: role.fileName) } catch {
                // Not every file system has hard links.
                try CachedFile.write(
                    bytes.span, to: set.appending(role.fileName), permissions: permissions & 0o644)
            }
            linked.insert(role.fileName)
        }
        return linked
    }

    /// Removes the sets all of whose delegated roles a newer one has, and those with the fewest roles beyond the limit.
    ///
    /// - Parameter spared: stays.
    private func removeSuperseded(
        among sets: [Int], by newest: Set<String>, except spared: Int?
    ) throws(VaultError) {
        let topLevel = Set(Self.topLevel.map(\.fileName))
        var kept: [(set: Int, count: Int)] = []
        for set in sets where set != spared {
            let names = Set(try names(in: path(of: set))).subtracting(topLevel)
            if names.isSubset(of: newest) { try remove(set) } else { kept.append((set, names.count)) }
        }
        kept.sort { ($0.count, $0.set) < ($1.count, $1.set) }
        for (set, _) in kept.dropLast(Self.limit - 1) { try remove(set) }
    }

    /// Removes all but the last one that could be read, if the present state was not noted as readable. The caller has the store's
    /// lock.
    func removeAll(under present: TrustChain) throws(VaultError) {
        guard try FileSystem.exists(folder) else { return }
        let spared = wholeSnapshot == present.snapshot.digest ? nil : try wholeSet
        for set in try completeSets() where set != spared { try remove(set) }
        if spared == nil { try FileSystem.removeTree(folder) }
    }

    private func remove(_ set: Int) throws(VaultError) {
        try FileSystem.removeFile(path(of: set).appending(MetadataRole.timestamp.fileName))
        try FileSystem.removeTree(path(of: set))
    }

    /// Entries that are not folders, such as a link that another user made, and unfinished sets of processes that died.
    private func removeUnknownEntries() throws(VaultError) {
        if let kind = try FileSystem.status(of: folder)?.kind, kind != .folder {
            try FileSystem.removeTree(folder)
        }
        try FileSystem.createFolders(folder, permissions: permissions)
        let complete = Set(try completeSets().map { "\($0)" })
        for name in try names(in: folder) where !complete.contains(name) {
            try FileSystem.removeTree(folder.appending(name))
        }
    }

    /// Their numbers, in ascending order.
    private func completeSets() throws(VaultError) -> [Int] {
        guard try FileSystem.status(of: folder)?.kind == .folder else { return [] }
        var sets: [Int] = []
        for name in try names(in: folder) {
            guard let number = Int(name), "\(number)" == name, number > 0, number < .max,
                try FileSystem.status(of: path(of: number))?.kind == .folder,
                try FileSystem.exists(path(of: number).appending(MetadataRole.timestamp.fileName))
            else { continue }
            sets.append(number)
        }
        return sets.sorted()
    }

    private func names(in folder: FilePath) throws(VaultError) -> [String] {
        try Folder(opening: folder).names().map { String(decoding: $0, as: UTF8.self) }
    }

    private func path(of set: Int) -> FilePath { folder.appending("\(set)") }
}

extension TrustChain {
    /// Whether these are the bytes of a delegated role as the snapshot lists it. Its signatures were verified when it was stored, and
    /// are again when it is looked up.
    fileprivate func lists(_ bytes: [UInt8], as role: MetadataRole) -> Bool {
        guard let reference = try? reference(to: role),
            (try? reference.check(bytes, at: role.fileName)) != nil
        else { return false }
        guard reference.hashes == nil else { return true }
        let parsed = try? UnverifiedMetadata(parsing: bytes, as: role, place: role.fileName)
        return parsed?.document.version == reference.version
    }
}

/// One verified state of a site that is not the present one here, with the delegated roles that were read with it: what was verified
/// before a refresh, or what another store has.
public struct EarlierState: Sendable {
    public let chain: TrustChain
    public let lookup: TargetLookup
}

extension MetadataStore {
    /// The first result by the states before the latest refreshes whose delegated roles were not all read again since, the newest
    /// first; nil where there is none. Only for loaded packs, because each state may be outdated.
    public func firstEarlierState<Result>(
        _ body: (EarlierState) async throws(VaultError) -> Result?
    ) async throws(VaultError) -> Result? {
        let sets = try earlier.sets
        guard !sets.isEmpty else { return nil }
        let roots = try storedRootChain()
        for source in sets {
            guard let chain = try await chain(of: source, under: roots) else { continue }
            let workflow = TrustWorkflow(source: source, storage: InitialTrust(), now: .earliest)
            let state = EarlierState(chain: chain, lookup: TargetLookup(workflow))
            if let result = try await body(state) { return result }
        }
        return nil
    }

    /// The chain of an earlier state, verified under the newest root, or the one before it that names the keys of its timestamp and
    /// snapshot: the state was verified before these keys were replaced, and what replaces it may not be here yet. The targets count
    /// only while the newest root names who signed them. Nil where it does not verify.
    private func chain(of state: StoredMetadata, under roots: RootChain) async throws(VaultError)
        -> TrustChain?
    {
        let newest = roots.newest
        for version in try storedRoots.versions().reversed() where version <= newest.version {
            guard let bytes = try storedRoots.root(version: version),
                let root = try? VerifiedRoot(trustedRootFile: bytes), roots.contains(root),
                let chain = try? await TrustChain.verifying(state, pinnedRoot: root, now: .earliest)
            else { continue }
            let targets = try UnverifiedMetadata(
                parsing: chain.targets.bytes, as: .targets, place: folder.string)
            return (try? newest.verify(targets, as: .targets)) == nil ? nil : chain
        }
        return nil
    }

    /// If no roles are delegated, the targets are everything: earlier states are no longer needed, unless another process has begun
    /// a later refresh. A failure is harmless: stored metadata that verify come first.
    func removeEarlier(supersededBy chain: TrustChain) async {
        guard chain.targets.delegations == nil, (try? earlier.sets.isEmpty) != true else { return }
        try? await locked { () throws(VaultError) in
            guard try stored(.timestamp) == chain.timestamp.bytes else { return }
            try earlier.removeAll(under: chain)
        }
    }

    /// Whether this state is the one that was noted.
    package func isNotedReadable(_ chain: TrustChain) -> Bool {
        earlier.wholeSnapshot == chain.snapshot.digest
    }

    /// Notes that all of a state can be read here. The last such state stays among the earlier states if a later state has data
    /// that can't be read yet, such as encrypted names. A failure is harmless: loaded packs stay.
    public func noteReadable(_ chain: TrustChain) async {
        guard !isNotedReadable(chain) else { return }
        try? await locked { () throws(VaultError) in
            guard try stored(.timestamp) == chain.timestamp.bytes else { return }
            try earlier.noteReadable(chain.snapshot.digest)
        }
        await removeEarlier(supersededBy: chain)
    }
}
