public import SealedPack
public import UpdateFramework
public import VaultErrors

/// The packs that a site's verified metadata lists.
public struct PublishedPacks: Sendable {
    /// A pack and the target that stands for it.
    public struct Listing: Sendable {
        public let pack: PackDescriptor
        public let target: TargetRecord
    }

    /// A target that is no pack for this program, and why.
    public struct Skipped: Sendable {
        public let path: String
        public let reason: String
    }

    /// In the order of their IDs.
    public let listings: [Listing]
    public let skipped: [Skipped]

    /// Everything that the site lists. What is no pack for this program is skipped and spoils nothing else.
    public init(of tree: TargetTree) {
        self.init(listed: tree.records)
    }

    /// What one role lists by itself.
    public init(of targets: VerifiedTargets) {
        self.init(listed: targets.records)
    }

    private init(listed records: [TargetRecord]) {
        var listings: [Listing] = []
        var skipped: [Skipped] = []
        for target in records {
            do throws(VaultError) {
                listings.append(try Listing(target))
            } catch {
                skipped.append(Skipped(path: target.path, reason: error.problem))
            }
        }
        self.listings = listings.sorted { $0.pack.id < $1.pack.id }
        self.skipped = skipped
    }

    public subscript(id: PackID) -> Listing? {
        listings.first { $0.pack.id == id }
    }
}

extension PublishedPacks.Listing {
    /// A target counts only if its path is the one of the pack that it describes: so nobody who may list some paths can
    /// speak for a pack of others. Throws `corrupt` for any other, such as one of a later format.
    public init(_ target: TargetRecord) throws(VaultError) {
        let pack = try PackDescriptor(parsing: target.json, place: target.path)
        guard pack.id.targetPath.utf8.elementsEqual(target.path.utf8) else {
            throw VaultError(
                .corrupt, "it describes the pack '\(pack.id)'", at: target.path,
                remedy: "the site's owner must publish it under its own path")
        }
        self.init(pack: pack, target: target)
    }
}
