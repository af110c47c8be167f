import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultSite

/// A folder with verified metadata of a host.
struct MetadataCopy {
    let site: Site
    let folder: MetadataFolder
    /// From the first one on: the host's, then those of the vault that follow and were not uploaded.
    private(set) var roots: [VerifiedRoot]

    /// - Parameters:
    ///   - tree: the verified metadata of the host.
    ///   - pinned: one of the site's roots.
    init(
        of tree: TargetTree, at site: Site, pinned: VerifiedRoot, in folder: MetadataFolder
    ) async throws(VaultError) {
        self.site = site
        self.folder = folder
        roots = try await RootHistory(
            of: site, through: [pinned, tree.chain.root], upTo: tree.chain.root.version
        ).roots
        for document in roots.map(\.document) + tree.numberedDocuments + [tree.chain.timestamp.document] {
            try write(document)
        }
    }

    /// Adds the roots that a publication left to upload, where they follow from the host's newest: their keys are in the vault.
    mutating func add(rootsIn toUpload: MetadataFolder) async throws(VaultError) {
        // After another root under the host's number, they would undo that.
        guard var newest = roots.last,
            try await isSame(newest, in: toUpload)
        else { return }
        while let file = try await toUpload.metadata(of: .root, version: newest.version + 1),
            let next = try? newest.successor(verifying: file)
        {
            try write(next.document)
            roots.append(next)
            newest = next
        }
    }

    /// Whether a folder has no other file in the place of a root.
    private func isSame(_ root: VerifiedRoot, in other: MetadataFolder) async throws(VaultError) -> Bool {
        guard let file = try await other.metadata(of: .root, version: root.version) else { return true }
        return file.document.bytes == root.document.bytes
    }

    /// A file whose number is taken, though it is not metadata of the vault, and why it is none.
    struct UnknownFile {
        let name: MetadataFileName
        let problem: String
    }

    /// How many files of an unfinished upload are read, and how many of them may belong to another publisher.
    private static let (unfinishedLimit, unknownFileLimit) = (Int64(1024), 8)

    /// The files of one role that an unfinished upload has brought.
    struct UnfinishedFiles {
        fileprivate(set) var unknown: [UnknownFile] = []
        /// The own roles that these files delegate to, according to the keys of the newest root.
        fileprivate(set) var delegated: Set<MetadataRole> = []
    }

    /// Fetches files of an unfinished upload, newer than a role's published one: clients may have them, so their numbers are used
    /// up. So are the numbers of damaged files, and of files that another publisher wrote.
    ///
    /// - Throws: `untrusted` if too many of these are not the vault's; `limit` if there are too many.
    func readUnfinished(after newest: Int64, of role: MetadataRole) async throws(VaultError)
        -> UnfinishedFiles
    {
        var files = UnfinishedFiles()
        for version in (newest + 1)...(newest + Self.unfinishedLimit) {
            guard let name = MetadataFileName(hostedName: role.hostedName(version: version)) else {
                return files
            }
            do throws(VaultError) {
                guard let metadata = try await site.metadata(of: role, statingVersion: version) else {
                    return files
                }
                if isSigned(metadata) {
                    try write(metadata.document)
                    files.delegated.formUnion(try ownRoles(delegatedBy: metadata))
                } else {
                    files.unknown.append(
                        UnknownFile(name: name, problem: "the vault's keys have not signed it"))
                }
            } catch {
                guard error.category == .untrusted else { throw error }
                files.unknown.append(UnknownFile(name: name, problem: error.problem))
            }
            if files.unknown.count > Self.unknownFileLimit, let first = files.unknown.first {
                throw VaultError(
                    .untrusted,
                    "it and \(files.unknown.count - 1) files after it are not this vault's: \(first.problem)",
                    at: site.place(of: first.name.hostedName),
                    remedy: "finish the upload that they belong to, or remove them")
            }
        }
        throw VaultError(
            .limit,
            "more than \(Self.unfinishedLimit) files follow version \(newest) of \(role), which is the newest",
            at: site.place(of: role.hostedName(version: newest + 1)),
            remedy: "find out who wrote them there, and remove those that no publication made")
    }

    /// Fetches the files before a role's newest, up to the first gap.
    func readEarlier(than newest: Int64, of role: MetadataRole, atMost count: Int64) async throws(VaultError)
    {
        var version = newest - 1
        while version >= max(1, newest - count) {
            guard let metadata = try? await site.metadata(of: role, statingVersion: version),
                isSigned(metadata)
            else {
                return
            }
            try write(metadata.document)
            version -= 1
        }
    }

    /// Fetches the files up to a version of a role that the host still has, the newest first, also those before pruned ones. Files
    /// that are not metadata, or that `isSigned` refuses, are left out. Returns the number of requests.
    @discardableResult func readAll(
        of role: MetadataRole, upTo newest: Int64, atMost limit: Int64,
        where isSigned: (UnverifiedMetadata) -> Bool
    ) async throws(VaultError) -> Int64 {
        guard newest >= 1, limit >= 1 else { return 0 }
        let versions = max(1, newest - limit + 1)...newest
        for version in versions.reversed() {
            let found: UnverifiedMetadata?
            do throws(VaultError) { found = try await site.metadata(of: role, statingVersion: version) } catch
            {
                guard error.category == .untrusted else { throw error }
                continue
            }
            if let found, isSigned(found) { try write(found.document) }
        }
        return Int64(versions.count)
    }

    private func ownRoles(delegatedBy metadata: UnverifiedMetadata) throws(VaultError) -> [MetadataRole] {
        // With a removed key a thief could name any number of roles.
        guard metadata.document.role.listsOwnPacks,
            roots.last?.trust(in: .targets).isMet(by: metadata) ?? false
        else { return [] }
        return (try metadata.delegations?.all ?? []).map(\.role).filter(\.listsOwnPacks)
    }

    /// By the keys of any root.
    func isSigned(_ metadata: UnverifiedMetadata) -> Bool {
        roots.contains { $0.trust(in: metadata.document.role.type).isMet(by: metadata) }
    }

    private func write(_ document: MetadataDocument) throws(VaultError) {
        try CachedFile.write(
            document.bytes.span, to: folder.path.appending(document.hostedName), permissions: 0o644)
    }
}
