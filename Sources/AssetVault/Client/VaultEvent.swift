public import SealedPack

/// What a client is doing, for progress bars and logs.
public enum VaultEvent: Sendable {
    /// Bytes of a download that are there, and bytes in all.
    case downloading(PackID, bytes: UInt64, total: UInt64)
    /// Bytes that were opened, and bytes in all.
    case opening(PackID, bytes: UInt64, total: UInt64)
    case finished(PackID, PackState)
}

/// Where a pack stands in a store.
public enum PackState: String, Sendable {
    case absent
    /// A part of it is in ephemeral storage.
    case downloading
    /// Verified in shared storage; it waits for its key.
    case toBeTransferred
    /// In permanent storage, ready for use.
    case loaded
    case failed
}

/// A pack of a store, for people and scripts.
public struct PackStatus: Sendable {
    public let id: PackID
    public let state: PackState
    /// The version that is ready for use.
    public let loadedVersion: UInt64?
    public let form: PackForm?
    /// The version that waits in shared storage.
    public let waitingVersion: UInt64?
    public let failure: String?
}
