import SealedPack
import UpdateFramework
import VaultBase
import VaultSite

/// The version numbers that a vault has given to its packs. No number is given twice: clients and older metadata may have it.
///
/// What is listed shows most of them. A signed member of the top-level targets, or of a team's role, keeps the rest: the highest
/// number of each pack that is listed in a lower version now, or not at all, such as `{"levels/one": 3}`. So every publisher knows
/// all numbers without older metadata. The specification allows further members (section 4.1); other clients ignore it.
///
/// While a channel has opaque names, the member has no readable names: it keeps only the highest of their numbers, which counts for
/// every pack with a readable name. So signing needs no key that opens the names.
struct GivenVersions {
    static let member = "x-last-versions"
    /// Stands for all readable names, so no pack may have it as its ID.
    static let anyName = try? PackID("assetvault.hidden")

    private let recorded: [PackID: UInt64]
    /// By any own role, each the highest.
    private let listed: [PackID: UInt64]
    private let unfinished: [UnfinishedPublication]
    private let published: PublishedState
    /// All of these.
    private var highest: [PackID: UInt64]

    init(of session: AuthorSession) async throws(VaultError) {
        published = session.published
        unfinished = try await UnfinishedPublication.all(in: session)
        let (roles, signer): ([VerifiedTargets], VerifiedTargets?) =
            switch published {
            case .site(let site): (site.tree.map(CurrentSite.ownRoles) ?? [], site.tree?.chain.targets)
            case .teamRole(let published): (published.targets.map { [$0] } ?? [], published.targets)
            }
        listed = Self.numbers(of: roles.flatMap(\.records))
        recorded = if let signer { try Self.recorded(in: signer.document) } else { [:] }
        highest = unfinished.map(\.numbers).reduce(Self.highest(recorded, listed), Self.highest)
    }

    /// The same after packs got numbers in this run.
    func adding(_ packs: some Sequence<PackManifest>) -> GivenVersions {
        var given = self
        for pack in packs { given.highest[pack.id] = max(pack.version, given.highest[pack.id] ?? 0) }
        return given
    }

    /// The highest number that a pack was ever given; 0 for a new one.
    func last(of id: PackID) -> UInt64 {
        let own = Self.last(of: id, in: highest)
        guard listed[id] == nil else { return own }
        // A team may list it now, the vault itself from now on.
        return max(own, published.listedVersion(of: id) ?? 0)
    }

    /// The same without the numbers that only unfinished publications gave.
    func lastPublished(of id: PackID) -> UInt64 { max(Self.last(of: id, in: recorded), listed[id] ?? 0) }

    private static func last(of id: PackID, in numbers: [PackID: UInt64]) -> UInt64 {
        let shared = isReadable(id) ? anyName.flatMap { numbers[$0] } : nil
        return max(numbers[id] ?? 0, shared ?? 0)
    }

    /// Whether an ID shows the name of a pack.
    static func isReadable(_ id: PackID) -> Bool { PackNames.isName(id) && id != anyName }

    /// Whether an unfinished publication gave a pack of these bytes its number, for the same versions of the app.
    func isUnfinished(_ pack: PackManifest) -> Bool {
        unfinishedVersions { $0 == pack.id.targetPath }
            .contains { $0.sha256 == pack.sha256 && $0.offer.apps == pack.offer.apps }
    }

    /// The versions in listings that no snapshot names yet.
    ///
    /// - Parameter isAsked: whether the packs at a target path count.
    func unfinishedVersions(at isAsked: (String) -> Bool = { _ in true }) -> [PackManifest] {
        unfinished.flatMap(\.records).filter { isAsked($0.path) }
            .compactMap { try? ListedPack($0) }.flatMap(\.versions)
    }

    /// The packs of listings that wait for signatures.
    func pendingPacks(in isAsked: (MetadataRole) -> Bool) -> [PackID: PackManifest] {
        let packs = unfinished.filter { $0.isPending && isAsked($0.role) }.flatMap(\.records).compactMap {
            try? ListedPack($0).pack
        }
        return Dictionary(packs.map { ($0.id, $0) }) { first, _ in first }
    }

    /// The member's next value; nil where the listings show all numbers.
    ///
    /// - Parameters:
    ///   - next: the highest number of each pack in the new listings.
    ///   - replaced: the roles that get a new signed file. It takes the place of their unfinished files, so the member keeps the numbers
    ///     in these. New top-level targets also take the place of unfinished ones: the member keeps the numbers of all roles that only
    ///     those named.
    ///   - roles: all that list packs in the new site.
    func member(
        listing next: [PackID: UInt64], replacing replaced: Set<MetadataRole>, in roles: Set<MetadataRole>
    ) -> JSONValue? {
        let isWhole = replaced.contains(.targets)
        let given = unfinished.filter { replaced.contains($0.role) || isWhole && !roles.contains($0.role) }
            .map(\.numbers).reduce(Self.highest(recorded, listed), Self.highest)
        var hidden = given.filter { $0.value > next[$0.key] ?? 0 }
        if next.keys.contains(where: \.isNamesTable), let anyName = Self.anyName {
            for (id, number) in hidden where Self.isReadable(id) {
                hidden[id] = nil
                hidden[anyName] = max(number, hidden[anyName] ?? 0)
            }
        }
        guard !hidden.isEmpty else { return nil }
        return .object(
            JSONObject(lastWins: hidden.map { ($0.key.description, .integer(Int64(clamping: $0.value))) }))
    }

    /// The value of the member in signed metadata. Throws `untrusted` for anything but IDs with numbers from 1 on.
    static func recorded(in document: MetadataDocument) throws(VaultError) -> [PackID: UInt64] {
        guard let value = document.signed[member] else { return [:] }
        func refusal(_ problem: String) -> VaultError {
            VaultError(
                .untrusted, "its member \"\(member)\" \(problem)", at: document.hostedName,
                remedy: "find out who signed it: only version numbers of packs are written there")
        }
        guard case .object(let json) = value else { throw refusal("is not an object") }
        var numbers: [PackID: UInt64] = [:]
        for (name, value) in json {
            guard let id = try? PackID(name), case .integer(let number) = value, number >= 1 else {
                throw refusal("has no version number of a pack at \"\(name.excerpt)\"")
            }
            numbers[id] = UInt64(number)
        }
        return numbers
    }

    /// The highest number of each pack, also of versions for other versions of the app, or of a later format.
    static func numbers(of records: [TargetRecord]) -> [PackID: UInt64] {
        var numbers: [PackID: UInt64] = [:]
        for record in records {
            guard let id = PackID(targetPath: record.path) else { continue }
            for version in record.eachVersion.compactMap(\.statedVersion) {
                numbers[id] = max(numbers[id] ?? 0, version)
            }
        }
        return numbers
    }

    static func highest(_ one: [PackID: UInt64], _ other: [PackID: UInt64]) -> [PackID: UInt64] {
        one.merging(other, uniquingKeysWith: max)
    }
}

/// A listing of the vault's own that no snapshot names yet: a publication or an upload was interrupted, or it waits for signatures.
struct UnfinishedPublication {
    let role: MetadataRole
    let records: [TargetRecord]
    /// The numbers in its member ``GivenVersions/member`` and of its packs, if enough keys have signed it: otherwise no client can
    /// have them, and no member may show their names.
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

    /// Those above the published versions, those in `pending/` first. Only signatures by keys that the newest root names count, so
    /// that the thief of a removed key can't give numbers. A team signs at once, and its signed metadata is published.
    static func all(in session: AuthorSession) async throws(VaultError) -> [UnfinishedPublication] {
        guard let site = session.published.site else { return [] }
        func isUnpublished(_ version: Int64, of role: MetadataRole) -> Bool {
            version > site.tree?.chain.snapshot[role]?.version ?? 0
        }
        let pending = PendingMetadata(vault: session.vault)
        var waiting: [UnverifiedMetadata] = []
        for role in try pending.roles().filter(\.listsOwnPacks).sorted() {
            guard let file = try pending.file(of: role), isUnpublished(file.document.version, of: role) else {
                continue
            }
            waiting.append(file)
        }
        let folder = MetadataFolder(session.vault.metadata)
        let files = try folder.versions().filter { file in
            file.role.map { $0.listsOwnPacks && isUnpublished(file.version, of: $0) } ?? false
        }
        guard !waiting.isEmpty || !files.isEmpty else { return [] }
        let signers = SignatureHistory(of: .targets, under: try await session.vault.roots())
        var unfinished = try waiting.map { file throws(VaultError) in
            try UnfinishedPublication(file, isSigned: signers.standing(of: file) == .current, isPending: true)
        }
        for file in files.sorted(by: { ($1.version, $0.hostedName) < ($0.version, $1.hostedName) }) {
            // Clients can't have read a file that is not metadata.
            guard let metadata = try folder.parsableMetadata(in: file),
                signers.standing(of: metadata) == .current
            else { continue }
            unfinished.append(try UnfinishedPublication(metadata, isSigned: true, isPending: false))
        }
        return unfinished
    }
}
