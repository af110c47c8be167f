public import SealedPack
public import VaultErrors
public import VaultSite

/// What a promotion changes in a channel, and the metadata that it wrote.
public struct PromotionReport: Sendable {
    public struct Pack: Sendable {
        public enum Change: String, Sendable {
            /// The channel did not list it before.
            case added
            case updated
            /// It goes back to a lower version.
            case older
            /// The same version, for other vault keys, or with other tags, traits or policy.
            case relabelled
            case removed
            case unchanged
        }

        public let id: PackID
        public let change: Change
        /// The version listed before the promotion; nil where none was.
        public let earlier: UInt64?
        /// The version that is to be listed; nil for a removed pack.
        public let version: UInt64?
    }

    /// The one that lists the packs.
    public let channel: Channel
    /// All chosen packs, and packs of a chosen tree that the destination lists no more; sorted by ID.
    public let packs: [Pack]
    /// Of a site that hides them, as far as they are known.
    public var names = PackNames()
    /// Under which the channel listed the same before; nil for packs of another channel.
    public internal(set) var restored: PublishedSnapshot?
    /// The names of the files, below `metadata/`.
    public internal(set) var written: [String] = []
    /// Of a preview: those that would be written.
    public internal(set) var toWrite: [String] = []
    public internal(set) var warnings: [Finding] = []
}

extension PromotionReport.Pack {
    init(_ id: PackID, from earlier: PackManifest?, to manifest: PackManifest?, isSame: Bool) {
        self.id = id
        self.earlier = earlier?.version
        version = manifest?.version
        change =
            switch (earlier?.version, manifest?.version) {
            case (nil, _): .added
            case (_, nil): .removed
            case (let earlier?, let version?):
                earlier == version
                    ? (isSame ? .unchanged : .relabelled) : earlier < version ? .updated : .older
            }
    }
}
