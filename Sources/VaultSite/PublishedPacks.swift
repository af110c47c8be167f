public import SealedPack
public import UpdateFramework
public import VaultBase

/// The packs that a site's verified metadata lists.
public struct PublishedPacks: Sendable {
    /// A target that this program can't read as a pack, and why.
    public struct Skipped: Sendable {
        public let target: TargetRecord
        public let reason: String
        /// Whether it is undamaged, and of a later format.
        public let needsNewerRelease: Bool
        /// The tags that it states and may have, as far as they can be read.
        public let tags: [String]

        public var path: String { target.path }
    }

    /// Sorted by pack ID, then by version.
    public let packs: [ListedPack]
    public let skipped: [Skipped]

    /// The packs that clients of a channel see. Targets that this program can't read as packs are skipped. Throws `.missing` for
    /// a channel that the site does not have.
    public init(of tree: TargetTree, in channel: Channel) throws(VaultError) {
        let tree = try tree.following(channel)
        self.init(of: tree.records, in: tree.chain)
    }

    /// The packs of all channels, each version once.
    public init(ofAllChannelsOf tree: TargetTree) {
        let grants = TagGrants(in: tree.chain)
        self.init(of: tree.recordsOfAllChannels, grants) { (target: TargetRecord) throws(VaultError) in
            var listed = try ListedPack(target)
            try listed.restrict(by: grants, to: target.signer)
            return listed
        }
    }

    /// The packs of a site that was read by a client of one channel (``TrustChain/following(_:)``).
    public init(seenIn tree: TargetTree) { self.init(of: tree.records, in: tree.chain) }

    /// Those of some records that were found under a chain.
    public init(of records: [TargetRecord], in chain: TrustChain) {
        self.init(of: records, granting: TagGrants(in: chain))
    }

    public init(of records: [TargetRecord], granting grants: TagGrants) {
        self.init(of: records, grants) { (target: TargetRecord) throws(VaultError) in
            try ListedPack.readable(in: target, granting: grants)
        }
    }

    private init(
        of records: [TargetRecord], _ grants: TagGrants,
        reading read: (TargetRecord) throws(VaultError) -> ListedPack
    ) {
        var packs: [ListedPack] = []
        packs.reserveCapacity(records.count)
        var skipped: [Skipped] = []
        for target in records {
            do throws(VaultError) {
                packs.append(try read(target))
            } catch {
                let tags = (target.statedTags ?? []).filter {
                    PackOffer.isWord($0) && grants.allow($0, to: target.signer)
                }
                skipped.append(
                    Skipped(
                        target: target, reason: error.problem, needsNewerRelease: error.needsNewerRelease,
                        tags: tags))
            }
        }
        packs.sort { ($0.pack.id, $0.pack.version) < ($1.pack.id, $1.pack.version) }
        self.packs = packs
        self.skipped = skipped
    }

    public subscript(id: PackID) -> ListedPack? {
        packs.first { $0.pack.id == id }
    }

    /// Packs of several IDs that have one content key, and are not of one family. Only one ID is legitimate; the others were signed
    /// by another signer, who may sign other names.
    public var contested: [[ListedPack]] {
        Dictionary(grouping: packs) { $0.pack.contentKeyID }.values
            .filter { packs in
                let family = packs[0].pack.offer.family
                return Set(packs.map(\.pack.id)).count > 1
                    && (family == nil || packs.contains { $0.pack.offer.family != family })
            }
            .sorted { $0[0].pack.id < $1[0].pack.id }
    }

    /// The manifest of a pack file, found by its length, header and footer. Throws `.missing` when the site lists no
    /// such pack, `.corrupt` when it lists several: only one is legitimate.
    public func manifest(of file: PackFile, at place: String) throws(VaultError) -> PackManifest {
        let found = packs.filter { file.matches($0.pack) }
        guard let first = found.first else {
            throw VaultError(
                .missing, "the site lists no pack with this file's length, header and footer", at: place,
                remedy: "use the site that published it, or its manifest")
        }
        guard found.count == 1 else {
            let names = found.map { "'\($0.pack.id)'" }.joined(separator: " and ")
            throw VaultError(
                .corrupt, "the site lists this pack as \(names)", at: place,
                remedy: "give its manifest, and report it to the publisher")
        }
        return first.pack
    }
}

extension PublishedPacks {
    /// The tags that packs of teams carry, and that the site does not grant to the team: each team once, sorted by their names.
    public var withheldTags: [Finding] {
        var found: [MetadataRole: Set<String>] = [:]
        for listed in packs {
            guard let team = listed.signer else { continue }
            for pack in listed.versions where !pack.offer.withheldTags.isEmpty {
                found[team, default: []].formUnion(pack.offer.withheldTags)
            }
        }
        return found.sorted { $0.key < $1.key }.map { team, tags in
            let names = tags.sorted().map { "'\($0.excerpt)'" }.listed(upTo: 4)
            return .warning(
                "withheld-tags",
                "tags of packs of the team '\(team)' have no effect, as the site does not grant them: \(names)",
                at: team.name,
                remedy: "add them to \"tags\" of the team in vault.json, or let the team drop them")
        }
    }
}
