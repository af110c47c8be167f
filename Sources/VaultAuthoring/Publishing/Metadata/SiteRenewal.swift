import SystemPackage
import UpdateFramework
import VaultBase

/// Decides which metadata is signed again: changed content, files that refer to it, less than a quarter of the period
/// left, or signatures by other keys.
struct SiteRenewal {
    let current: TargetTree?
    let root: VerifiedRoot
    /// The verified next root.
    let successor: VerifiedRoot?
    let signing: MetadataSigning
    /// Whether a higher version is needed though nothing else changed (``CurrentSite/isReplacement``).
    var isReplacement = false

    /// What is to be done for a role that the vault signs.
    private enum Need {
        /// Nothing: the published file stays.
        case nothing(VerifiedTargets)
        /// It waits in `pending/` with all signatures.
        case waiting(SignedMetadata)
        /// A signature of this content; without the numbers of unfinished files of its own it is the content that is needed.
        case signature(RoleContent, needed: RoleContent, after: VerifiedTargets?)
    }

    /// What was signed of a site.
    struct Outcome {
        /// All files to publish; they can't be published while there are ``pendingFiles``.
        fileprivate(set) var files: [SignedMetadata]
        /// Files that must be signed elsewhere before anything is published.
        fileprivate(set) var pendingFiles: [MissingSignatures] = []
        /// Work that the user should do soon.
        fileprivate(set) var warnings: [Finding] = []
    }

    /// Decides for each role in turn.
    ///
    /// - Parameter act: whether the role gets a file.
    private func decide(
        _ content: SiteContent, _ act: (MetadataRole, Need) throws(VaultError) -> Bool
    ) throws(VaultError) {
        var replaced = Set(content.imports.map(\.draft.role))
        for wanted in content.roles {
            let old = published[wanted.role]
            // An unfinished file of the role itself is no reason to sign it: it stays the newest.
            let needed = content.completed(wanted, replacing: replaced)
            let wanted = content.completed(wanted, replacing: replaced.union([.targets]))
            let need: Need =
                if let file = try pendingFile(wanted, after: old) {
                    .waiting(file)
                } else if let old, try !isDue(old, needed) {
                    .nothing(old)
                } else {
                    .signature(wanted, needed: needed, after: old)
                }
            if try act(wanted.role, need) { replaced.insert(wanted.role) }
        }
    }

    func signing(_ content: SiteContent) throws(VaultError) -> Outcome {
        var outcome = Outcome(files: content.imports)
        var references = Dictionary(content.imports.map { ($0.draft.role, $0.reference) }) { $1 }
        func add(_ file: SignedMetadata) {
            outcome.files.append(file)
            references[file.draft.role] = file.reference
        }
        try decide(content) { role, need throws(VaultError) in
            switch need {
            case .nothing(let old):
                references[role] = old.reference
                return false
            case .waiting(let file): add(file)
            case .signature(let wanted, let needed, let old):
                switch try sign(wanted, after: old) {
                case .signed(let file): add(file)
                case .pending(let file):
                    guard let old, try !mustChange(old, needed), signing.period.now < old.expires,
                        signing.period.offlineUntil == nil
                    else {
                        outcome.pendingFiles.append(file)
                        return true
                    }
                    references[role] = old.reference
                    outcome.warnings.append(
                        .warning(
                            "expires-soon", "\(role) version \(old.version) expires at \(old.expires)",
                            at: role.name, remedy: "sign what waits in \(signing.pending.folder) before then",
                            hint: .signing))
                    return false
                }
            }
            return true
        }
        guard outcome.pendingFiles.isEmpty else { return outcome }
        if let snapshot = try snapshot(listing: references) { add(snapshot) }
        guard let snapshot = references[.snapshot] ?? current?.chain.snapshot.reference else {
            return outcome
        }
        let isNew = snapshot != current?.chain.snapshot.reference
        if try isTimestampDue(underNewSnapshot: isNew) { outcome.files.append(try timestamp(over: snapshot)) }
        return outcome
    }

    /// The roles that ``signing(_:)`` signs where no key is missing.
    func rolesToSign(_ content: SiteContent) throws(VaultError) -> [MetadataRole] {
        var roles: [MetadataRole] = []
        try decide(content) { role, need in
            if case .nothing = need { return false }
            roles.append(role)
            return true
        }
        let isChanged = !roles.isEmpty || !content.imports.isEmpty
        if try isSnapshotDue(isChanged: isChanged) { roles.append(.snapshot) }
        if try isTimestampDue(underNewSnapshot: roles.last == .snapshot) { roles.append(.timestamp) }
        return roles
    }

    /// Nil where the published snapshot stays.
    private func snapshot(listing references: [MetadataRole: MetadataReference]) throws(VaultError)
        -> SignedMetadata?
    {
        let old = current?.chain.snapshot
        guard try isSnapshotDue(isChanged: references.contains { old?[$0.key] != $0.value }) else {
            return nil
        }
        try requireHigherVersion(.snapshot, than: old?.version)
        return try signing.sign(.snapshot, for: trusts(of: .snapshot), delegatedBy: rootName) {
            version, expires throws(VaultError) in
            var members = old?.json ?? [:]
            members[PublicationTime.member] = PublicationTime.json(
                ofSnapshot: version, at: signing.period.now)
            return try .snapshot(
                version: version, expires: expires, listing: references, keepingMembersOf: members)
        }
    }

    func timestamp(over snapshot: MetadataReference) throws(VaultError) -> SignedMetadata {
        try requireHigherVersion(.timestamp, than: current?.chain.timestamp.version)
        return try signing.sign(.timestamp, for: trusts(of: .timestamp), delegatedBy: rootName) {
            version, expires throws(VaultError) in
            try .timestamp(
                version: version, expires: expires, snapshot: snapshot,
                keepingMembersOf: current?.chain.timestamp.json ?? [:])
        }
    }

    /// The keys that must sign a role: those of the published root, and of the next one.
    func trusts(of role: TopLevelRole) -> [RoleTrust] {
        [root.trust(in: role)] + (successor.map { [$0.trust(in: role)] } ?? [])
    }

    var rootName: String { "root version \((successor ?? root).version)" }

    /// The published targets roles.
    private var published: [MetadataRole: VerifiedTargets] {
        Dictionary((current?.targetsRoles ?? []).map { ($0.document.role, $0) }) { first, _ in first }
    }

    private func sign(
        _ wanted: RoleContent, after old: VerifiedTargets?
    ) throws(VaultError) -> SigningOutcome {
        try requireHigherVersion(wanted.role, than: old?.version)
        return try signing.signOrWait(wanted.role, for: wanted.trusts, content(wanted, after: old))
    }

    /// Unchanged content in `pending/` that was signed to last longer.
    private func pendingFile(_ wanted: RoleContent, after old: VerifiedTargets?) throws(VaultError)
        -> SignedMetadata?
    {
        guard let old else { return nil }
        return try signing.pendingFile(
            wanted.role, for: wanted.trusts, lastingBeyond: old.expires, content(wanted, after: old))
    }

    private func content(_ wanted: RoleContent, after old: VerifiedTargets?) -> MetadataSigning.Content {
        var members = old?.json ?? [:]
        for (name, value) in wanted.members { members[name] = value }
        return { [members] version, expires throws(VaultError) in
            try .targets(
                wanted.role, version: version, expires: expires, records: wanted.records,
                delegations: wanted.delegations, keepingMembersOf: members)
        }
    }

    private func isDue(_ old: VerifiedTargets, _ wanted: RoleContent) throws(VaultError) -> Bool {
        if signing.period.isDue(wanted.role, expiring: old.expires) { return true }
        return try mustChange(old, wanted)
    }

    /// Whether the content changed, or other keys have signed it.
    private func mustChange(_ old: VerifiedTargets, _ wanted: RoleContent) throws(VaultError) -> Bool {
        if differs(old, wanted) { return true }
        return try isObsolete(old, trusts: wanted.trusts)
    }

    private func differs(_ old: VerifiedTargets, _ wanted: RoleContent) -> Bool {
        old.delegations != wanted.delegations || Set(old.records) != Set(wanted.records)
            || !wanted.members.allSatisfy { name, value in old.json[name] == value }
    }

    /// Whether a role is to have other content than the published one.
    func changes(_ wanted: RoleContent) -> Bool {
        published[wanted.role].map { differs($0, wanted) } ?? true
    }

    /// - Parameter isChanged: whether it is to list other files.
    private func isSnapshotDue(isChanged: Bool) throws(VaultError) -> Bool {
        if isReplacement || isChanged { return true }
        return try isDue(current?.chain.snapshot, .snapshot)
    }

    private func isTimestampDue(underNewSnapshot isNew: Bool) throws(VaultError) -> Bool {
        if isNew { return true }
        return try isDue(current?.chain.timestamp, .timestamp)
    }

    private func isDue(_ old: (some VerifiedMetadata)?, _ role: TopLevelRole) throws(VaultError) -> Bool {
        guard let old, !signing.period.isDue(MetadataRole(role), expiring: old.expires) else { return true }
        return try isObsolete(old, trusts: trusts(of: role))
    }

    /// Whether its version must begin again, or other keys have signed it.
    private func isObsolete(_ old: some VerifiedMetadata, trusts: [RoleTrust]) throws(VaultError) -> Bool {
        if restartsNumbering(after: old) { return true }
        let role = old.document.role
        let metadata = try UnverifiedMetadata(parsing: old.bytes, as: role, place: role.fileName)
        let known = Set(trusts.flatMap(\.keys).map(\.id))
        return !trusts.allSatisfy { $0.isMet(by: metadata) } || !metadata.keyIDs.isSubset(of: known)
    }
}

/// Version numbers that a thief of keys has used up begin again under a root that lets clients forget them.
extension SiteRenewal {
    /// Whether clients of the new root forget the versions that they have seen.
    var resetsVersions: Bool { successor?.resetsVersions(since: root) ?? false }

    /// Whether metadata has the highest possible number: only under the new root clients accept a lower one.
    func restartsNumbering(after old: some VerifiedMetadata) -> Bool {
        resetsVersions && old.version == NextVersions.highestPossible
    }

    /// Throws `untrusted` where clients would refuse the next version of a role.
    func requireHigherVersion(_ role: MetadataRole, than published: Int64?) throws(VaultError) {
        guard let published, signing.versions[role] <= published else { return }
        // Only the whole site shows which numbers are free.
        guard !resetsVersions || signing.pending.vault.followsHost else { return }
        func refusal(_ remedy: String, _ hint: Hint? = nil) -> VaultError {
            VaultError(
                .untrusted,
                "version \(published) is the highest possible one: a thief of keys has published it",
                at: "role \(role)", remedy: remedy, hint: hint)
        }
        let vault = signing.pending.vault
        if vault.followsHost {
            throw refusal("replace the stolen keys in the vault that has the whole site/, and upload that")
        }
        if let pendingRoot = try signing.pending.file(of: .root), try root.losesKeys(to: pendingRoot) {
            throw refusal(
                "sign \(vault.pending)/\(pendingRoot.document.hostedName) where the keys of the root are kept, then publish again",
                .signing)
        }
        let stolen = role.type == .timestamp ? "timestamp" : "snapshot"
        throw refusal(
            "replace the \(stolen) key, and every other key that may be stolen: clients forget the versions that they"
                + " have seen", .rotation(role: stolen, vault: vault.path.string))
    }
}

extension VerifiedRoot {
    /// Whether a root that waits for signatures would let clients forget versions.
    fileprivate func losesKeys(to next: UnverifiedMetadata) throws(VaultError) -> Bool {
        for role in [TopLevelRole.timestamp, .snapshot] {
            let remaining = try next.rootTrust(in: role).keys
            if trust(in: role).keys.contains(where: { !remaining.contains($0) }) { return true }
        }
        return false
    }
}
