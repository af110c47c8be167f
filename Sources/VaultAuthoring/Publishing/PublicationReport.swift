public import SealedPack
public import VaultKeys

/// What a publication did, for people and scripts.
public struct PublicationReport: Sendable {
    public enum Change: String, Sendable {
        case added, updated, unchanged, removed
    }

    public struct Pack: Sendable {
        public let id: PackID
        public let version: UInt64
        public let change: Change
        /// Bytes of the pack.
        public let length: UInt64
        public let pieces: UInt32
        /// Those that the previous version has, byte for byte.
        public let reusedPieces: UInt32
        /// Vault keys that opened the previous version and don't open this one.
        public let droppedKeys: [KeyID]
        /// Whether an earlier version is listed, whatever the source is now.
        public let isPinned: Bool
        /// Of a pack whose content is another one: what that costs clients of its last versions, the newest first.
        public internal(set) var updates: [Update] = []
    }

    /// What clients of an earlier version download.
    public struct Update: Sendable {
        public let version: UInt64
        public let cost: UpdateCost
    }

    public let packs: [Pack]
    /// The metadata files that were written.
    public let written: [String]
    /// What should be done before long, each a sentence.
    public let warnings: [String]
}

extension PublicationReport.Pack {
    init(_ sealed: SealingResult, after previous: PackDescriptor?, isPinned: Bool) {
        let pack = sealed.descriptor
        self.init(
            id: pack.id, version: pack.version,
            change: previous == nil ? .added : previous == pack ? .unchanged : .updated, length: pack.length,
            pieces: pack.pieceCount, reusedPieces: sealed.reusedPieces + sealed.repeatedPieces,
            droppedKeys: (previous?.slots ?? []).map(\.keyID).filter { id in
                !pack.slots.contains { $0.keyID == id }
            }, isPinned: isPinned)
    }

    init(removed pack: PackDescriptor) {
        self.init(
            id: pack.id, version: pack.version, change: .removed, length: pack.length,
            pieces: pack.pieceCount, reusedPieces: 0, droppedKeys: [], isPinned: false)
    }
}
