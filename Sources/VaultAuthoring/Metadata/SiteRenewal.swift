import SealedPack
import StrictJSON
import UpdateFramework
import VaultErrors
import VaultSite

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
    /// What should be done before long, each a sentence.
    private(set) var warnings: [Finding] = []
    /// Files that must be signed elsewhere before anything is published.
    private(set) var pendingFiles: [MissingSignatures] = []

    /// The wanted content of one targets role.
    struct Listing {
        let role: MetadataRole
        let records: [TargetRecord]
        let delegations: Delegations?
        let trusts: [RoleTrust]
        /// The bin's part of the ``TagIndex``.
        var tags: JSONValue?
        /// See ``PackNames/member``.
        var hasQuietNames = false
        /// See ``GivenVersions/member``.
        var lastVersions: JSONValue?

        /// Further members of the signed part; nil for absent ones.
        var members: KeyValuePairs<String, JSONValue?> {
            [
                TagIndex.member: tags, PackNames.member: hasQuietNames ? .bool(true) : nil,
                GivenVersions.member: lastVersions,
            ]
        }

        /// With the numbers that the top-level targets keep; another role as it is.
        fileprivate func keeping(
            _ given: GivenVersions, listing numbers: [PackID: UInt64], replacing replaced: Set<MetadataRole>
        ) -> Listing {
            guard role == .targets else { return self }
            var listing = self
            listing.lastVersions = given.member(listing: numbers, replacing: replaced)
            return listing
        }
    }

    /// - Parameters:
    ///   - listings: the roles that this vault signs, the top-level targets last.
    ///   - given: the version numbers that the top-level targets keep.
    ///   - imports: roles that teams signed.
    /// - Returns: all files to publish; they can't be published while there are ``pendingFiles``.
    mutating func files(
        listing listings: [Listing], keeping given: GivenVersions, importing imports: [SignedMetadata]
    ) throws(VaultError) -> [SignedMetadata] {
        var files: [SignedMetadata] = []
        var references: [MetadataRole: MetadataReference] = [:]
        var replaced: Set<MetadataRole> = []
        func add(_ file: SignedMetadata) {
            files.append(file)
            references[file.draft.role] = file.reference
            replaced.insert(file.draft.role)
        }
        for file in imports { add(file) }
        let numbers = GivenVersions.numbers(of: listings.flatMap(\.records))
        for listing in listings {
            let old = published[listing.role]
            // An unfinished file of the role itself is no reason to sign it: it stays the newest.
            let needed = listing.keeping(given, listing: numbers, replacing: replaced)
            let listing = listing.keeping(given, listing: numbers, replacing: replaced.union([.targets]))
            if let file = try pendingFile(listing, after: old) {
                add(file)
            } else if let old, try !isDue(old, needed) {
                references[listing.role] = old.reference
            } else {
                switch try sign(listing, after: old) {
                case .signed(let file): add(file)
                case .pending(let file):
                    guard let old, try !mustChange(old, needed), signing.period.now < old.expires,
                        signing.period.offlineUntil == nil
                    else {
                        pendingFiles.append(file)
                        replaced.insert(listing.role)
                        continue
                    }
                    references[listing.role] = old.reference
                    warnings.append(
                        .warning(
                            "expires-soon",
                            "\(listing.role) version \(old.version) expires at \(old.expires)",
                            at: listing.role.name,
                            remedy: "sign what waits in \(signing.pending.folder) before then",
                            hint: .signing))
                }
            }
        }
        guard pendingFiles.isEmpty else { return files }
        if let snapshot = try snapshot(listing: references) { add(snapshot) }
        guard let snapshot = references[.snapshot] ?? current?.chain.snapshot.reference else { return files }
        let isNew = snapshot != current?.chain.snapshot.reference
        if try isTimestampDue(underNewSnapshot: isNew) { files.append(try timestamp(over: snapshot)) }
        return files
    }

    /// The roles that ``files(listing:keeping:importing:)`` signs where no key is missing.
    func rolesToSign(
        listing listings: [Listing], keeping given: GivenVersions, importing imports: [SignedMetadata]
    ) throws(VaultError) -> [MetadataRole] {
        let numbers = GivenVersions.numbers(of: listings.flatMap(\.records))
        var roles: [MetadataRole] = []
        for listing in listings {
            let replaced = Set(roles + imports.map(\.draft.role))
            let needed = listing.keeping(given, listing: numbers, replacing: replaced)
            if let old = published[listing.role], try !isDue(old, needed),
                try pendingFile(
                    listing.keeping(given, listing: numbers, replacing: replaced.union([.targets])),
                    after: old) == nil
            {
                continue
            }
            roles.append(listing.role)
        }
        if try isSnapshotDue(isChanged: !roles.isEmpty || !imports.isEmpty) { roles.append(.snapshot) }
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

    private func sign(_ listing: Listing, after old: VerifiedTargets?) throws(VaultError) -> SigningOutcome {
        try requireHigherVersion(listing.role, than: old?.version)
        return try signing.signOrWait(listing.role, for: listing.trusts, content(listing, after: old))
    }

    /// Unchanged content in `pending/` that was signed to last longer.
    private func pendingFile(_ listing: Listing, after old: VerifiedTargets?) throws(VaultError)
        -> SignedMetadata?
    {
        guard let old else { return nil }
        return try signing.pendingFile(
            listing.role, for: listing.trusts, lastingBeyond: old.expires, content(listing, after: old))
    }

    private func content(_ listing: Listing, after old: VerifiedTargets?) -> MetadataSigning.Content {
        var members = old?.json ?? [:]
        for (name, value) in listing.members { members[name] = value }
        return { [members] version, expires throws(VaultError) in
            try .targets(
                listing.role, version: version, expires: expires, records: listing.records,
                delegations: listing.delegations, keepingMembersOf: members)
        }
    }

    private func isDue(_ old: VerifiedTargets, _ listing: Listing) throws(VaultError) -> Bool {
        if signing.period.isDue(listing.role, expiring: old.expires) { return true }
        return try mustChange(old, listing)
    }

    /// Whether the content changed, or other keys have signed it.
    private func mustChange(_ old: VerifiedTargets, _ listing: Listing) throws(VaultError) -> Bool {
        if differs(old, listing) { return true }
        return try isObsolete(old, trusts: listing.trusts)
    }

    private func differs(_ old: VerifiedTargets, _ listing: Listing) -> Bool {
        old.delegations != listing.delegations || Set(old.records) != Set(listing.records)
            || !listing.members.allSatisfy { name, value in old.json[name] == value }
    }

    /// Whether a listing has other content than the published one.
    func changes(_ listing: Listing) -> Bool {
        published[listing.role].map { differs($0, listing) } ?? true
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
