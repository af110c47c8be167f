import SealedPack
import StrictJSON
import UpdateFramework
import VaultErrors
import VaultSite

/// A listing of the vault's own that no snapshot names yet: a publication or an upload was interrupted, or it waits for signatures.
struct UnfinishedListing {
    let role: MetadataRole
    let records: [TargetRecord]
    /// What its member ``GivenVersions/member`` says, and of its packs, if enough keys have signed it: else no client can have them, and
    /// no member may show their names.
    let numbers: [PackID: UInt64]
    /// Whether it is in `pending/`.
    let isPending: Bool

    private init(_ metadata: UnverifiedMetadata, isSigned: Bool, isPending: Bool) throws(VaultError) {
        role = metadata.document.role
        let targets = try metadata.document.signed.object("targets", at: metadata.document.hostedName)
        records = try targets.map { path, json throws(VaultError) in
            try TargetRecord(path: path, json: try json.asObject(at: path))
        }
        numbers = GivenVersions.highest(
            try GivenVersions.recorded(in: metadata.document),
            isSigned ? GivenVersions.numbers(of: records) : [:])
        self.isPending = isPending
    }

    /// Those above the published versions, those in `pending/` first. A file is signed if keys that the newest root names have done it:
    /// who has stolen a removed key gives no numbers. A team signs at once, and what it has signed is published.
    static func all(in session: AuthorSession) async throws(VaultError) -> [UnfinishedListing] {
        guard case .site(let site) = session.published else { return [] }
        func isOwn(_ role: MetadataRole) -> Bool { role == .targets || OwnRoles.contains(role) }
        func isUnpublished(_ version: Int64, of role: MetadataRole) -> Bool {
            version > site.tree?.chain.snapshot[role]?.version ?? 0
        }
        let pending = PendingMetadata(vault: session.vault)
        var waiting: [UnverifiedMetadata] = []
        for role in try pending.roles().filter(isOwn).sorted() {
            guard let file = try pending.file(of: role), isUnpublished(file.document.version, of: role) else {
                continue
            }
            waiting.append(file)
        }
        let folder = MetadataFolder(session.vault.metadata)
        let files = try folder.versions().filter { file in
            file.role.map { isOwn($0) && isUnpublished(file.version, of: $0) } ?? false
        }
        guard !waiting.isEmpty || !files.isEmpty else { return [] }
        let signers = TargetsSignatureHistory(under: try await session.vault.roots())
        var unfinished = try waiting.map { file throws(VaultError) in
            try UnfinishedListing(file, isSigned: signers.standing(of: file) == .current, isPending: true)
        }
        for file in files.sorted(by: { ($1.version, $0.hostedName) < ($0.version, $1.hostedName) }) {
            // Nobody can have read what is no metadata.
            guard let metadata = try? folder.metadata(in: file), signers.standing(of: metadata) == .current
            else { continue }
            unfinished.append(try UnfinishedListing(metadata, isSigned: true, isPending: false))
        }
        return unfinished
    }
}
