import SealedPack
import UpdateFramework
import VaultBase
import VaultSite

/// The wanted content of one targets role.
struct RoleContent {
    let role: MetadataRole
    let records: [TargetRecord]
    let delegations: Delegations?
    let trusts: [RoleTrust]
    /// The bin's part of the ``TagIndex``.
    var tags: JSONValue?
    /// See ``PackNames/member``.
    var hasOpaqueNames = false
    /// Of the top-level targets.
    var retiredKeys = RetiredKeys()
    /// See ``GivenVersions/member`` and ``SiteContent/completed(_:replacing:)``.
    fileprivate(set) var lastVersions: JSONValue?

    /// Further members of the signed part; nil for absent ones.
    var members: KeyValuePairs<String, JSONValue?> {
        [
            TagIndex.member: tags, PackNames.member: hasOpaqueNames ? .bool(true) : nil,
            GivenVersions.member: lastVersions, RetiredKeys.member: retiredKeys.json,
            RetiredKeys.contentMember: retiredKeys.contentJSON,
        ]
    }
}

/// The roles that the vault signs, and what else the site gets.
struct SiteContent {
    /// The top-level targets last.
    let roles: [RoleContent]
    /// Roles that teams signed.
    let imports: [SignedMetadata]
    private let given: GivenVersions
    /// The highest number of each pack in these roles.
    private let numbers: [PackID: UInt64]

    init(roles: [RoleContent], importing imports: [SignedMetadata], after given: GivenVersions) {
        (self.roles, self.imports, self.given) = (roles, imports, given)
        numbers = GivenVersions.numbers(of: roles.flatMap(\.records))
    }

    /// The top-level targets with the version numbers that they keep; another role as it is.
    ///
    /// - Parameter replaced: roles that are signed anew.
    func completed(_ role: RoleContent, replacing replaced: Set<MetadataRole> = []) -> RoleContent {
        guard role.role == .targets else { return role }
        var role = role
        role.lastVersions = given.member(
            listing: numbers, replacing: replaced, in: Set(roles.map(\.role)))
        return role
    }
}

/// The list of one channel's packs as a delegated role, or divided into bins by the hash of their paths: the role `packs`
/// delegates each path to one of `packs-00`, `packs-01`, … A client reads only the bins that it needs, and again only those
/// that changed.
struct ChannelRoles {
    let channel: Channel
    /// Nil for one list.
    private let bins: HashBins?
    /// The keys of the roles.
    private let trust: RoleTrust

    /// The channel's own role, then its bins.
    var roles: [MetadataRole] {
        [channel.role] + (bins.map { bins in (0..<bins.count).compactMap(bins.role) } ?? [])
    }

    init(of channel: Channel, binBits: Int, trust: RoleTrust) {
        self.channel = channel
        self.trust = trust
        bins = HashBins(bitLength: binBits, namePrefix: channel.binPrefix, trust: trust)
    }

    /// Delegates every path by the first digit of its hash. (Delegation by bins alone would exclude other roles.)
    ///
    /// - Parameter isTerminating: whether the search for a path ends here, and never reaches other channels.
    func delegation(isTerminating: Bool) -> Delegation {
        Delegation(
            to: channel.role, of: .hashPrefixes((0..<16).map { String($0, radix: 16) }), trust: trust,
            isTerminating: isTerminating)
    }

    func contents(of records: [TargetRecord]) -> [RoleContent] {
        let trusts = [trust]
        guard let bins else {
            return [
                RoleContent(
                    role: channel.role, records: records, delegations: nil, trusts: trusts,
                    hasOpaqueNames: PackNames.areNeeded(for: records))
            ]
        }
        var contents: [[TargetRecord]] = Array(repeating: [], count: bins.count)
        for record in records { contents[bins.index(of: record.path)].append(record) }
        var tags: [[(tag: String, paths: [String])]] = Array(repeating: [], count: bins.count)
        for entry in TagIndex.tags(of: records) {
            tags[bins.index(of: TagIndex.path(of: entry.tag))].append(entry)
        }
        let parent = RoleContent(
            role: channel.role, records: [], delegations: .bins(bins), trusts: trusts,
            hasOpaqueNames: PackNames.areNeeded(for: records))
        return [parent]
            + contents.enumerated().compactMap { index, records in
                bins.role(at: index).map {
                    RoleContent(
                        role: $0, records: records, delegations: nil, trusts: trusts,
                        tags: TagIndex.json(of: tags[index]))
                }
            }
    }
}

extension SiteStructure {
    /// What is live comes first, and ends the search of clients that know no channels.
    var searchedChannels: [Channel] { [.live] + channels.filter { $0 != .live } }

    /// One for each channel, in the order of the search. None where the top-level targets list the packs themselves.
    func channelRoles(trust: RoleTrust) -> [ChannelRoles] {
        guard binBits > 0 || !channels.isEmpty else { return [] }
        return searchedChannels.map {
            ChannelRoles(of: $0, binBits: binBits, trust: trust)
        }
    }
}
