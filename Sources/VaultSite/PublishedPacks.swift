public import SealedPack
public import UpdateFramework
import VaultErrors

/// The packs that verified targets metadata lists.
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

    /// A target counts only if its path is the one of the pack that it describes. One that can't be read, such as
    /// one of a later format, is skipped and spoils nothing else.
    public init(of chain: TrustChain) {
        var listings: [Listing] = []
        var skipped: [Skipped] = []
        for target in chain.targets.records {
            do {
                let pack = try PackDescriptor(parsing: target.json, place: target.path)
                guard PackID(targetPath: target.path) == pack.id else {
                    skipped.append(Skipped(path: target.path, reason: "it describes the pack '\(pack.id)'"))
                    continue
                }
                listings.append(Listing(pack: pack, target: target))
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
