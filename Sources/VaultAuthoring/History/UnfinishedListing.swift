import SealedPack
import StrictJSON
import UpdateFramework
import VaultErrors
import VaultSite

/// A listing of the vault's own that no snapshot names yet: a publication or an upload was interrupted, or it waits for signatures.
struct UnfinishedListing {
    let role: MetadataRole
    let records: [TargetRecord]
    /// Of its packs, and what its member ``GivenVersions/member`` says.
    let numbers: [PackID: UInt64]
    /// Whether it waits for signatures.
    let isPending: Bool

    private init(_ metadata: UnverifiedMetadata, isPending: Bool) throws(VaultError) {
        role = metadata.document.role
        let targets = try metadata.document.signed.object("targets", at: metadata.document.hostedName)
        records = try targets.map { path, json throws(VaultError) in
            try TargetRecord(path: path, json: try json.asObject(at: path))
        }
        numbers = GivenVersions.highest(
            try GivenVersions.recorded(in: metadata.document), GivenVersions.numbers(of: records))
        self.isPending = isPending
    }

    /// Those above the published versions, those that wait for signatures first. A file counts if keys that the newest root names have
    /// signed it: who has stolen a removed key gives no numbers.
    static func all(in session: AuthorSession) async throws(VaultError) -> [UnfinishedListing] {
        let ownRole = session.settings.structure.ownRole
        func newest(_ role: MetadataRole) -> Int64 {
            switch session.published {
            case .site(let site): site.tree?.chain.snapshot[role]?.version ?? 0
            case .teamRole(let published): published.targets?.version ?? 0
            }
        }
        func isOwn(_ role: MetadataRole) -> Bool {
            ownRole.map { $0 == role } ?? (role == .targets || OwnRoles.contains(role))
        }
        var unfinished: [UnfinishedListing] = []
        let pending = PendingMetadata(vault: session.vault)
        for role in try pending.roles().filter(isOwn).sorted() {
            guard let file = try pending.file(of: role), file.document.version > newest(role) else {
                continue
            }
            unfinished.append(try UnfinishedListing(file, isPending: true))
        }
        // What a team has signed is published.
        guard ownRole == nil else { return unfinished }
        let folder = MetadataFolder(session.vault.metadata)
        let files = try folder.versions().filter { file in
            file.role.map { isOwn($0) && file.version > newest($0) } ?? false
        }
        guard !files.isEmpty else { return unfinished }
        let signers = TargetsSignatureHistory(under: try await session.vault.roots())
        for file in files.sorted(by: { ($1.version, $0.hostedName) < ($0.version, $1.hostedName) }) {
            // Nobody can have read what is no metadata.
            guard let metadata = try? folder.metadata(in: file), signers.standing(of: metadata) == .current
            else { continue }
            unfinished.append(try UnfinishedListing(metadata, isPending: false))
        }
        return unfinished
    }
}
