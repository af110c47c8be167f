public import SealedPack
import VaultBytes

/// How far the downloads of a request are.
public struct ResourceProgress: Sendable, Hashable {
    /// One pack of a request.
    public struct Part: Sendable, Hashable {
        /// Downloaded bytes, also those that were there before.
        public internal(set) var bytes: UInt64 = 0
        public let total: UInt64
    }

    /// The packs that were missing.
    public internal(set) var packs: [PackID: Part] = [:]

    /// Bytes that were downloaded.
    public var bytes: UInt64 { packs.values.saturatingSum(\.bytes) }

    /// Bytes in all.
    public var total: UInt64 { packs.values.saturatingSum(\.total) }

    /// From 0 to 1; 1 where nothing is missing.
    public var fraction: Double { total == 0 ? 1 : Double(bytes) / Double(total) }

    mutating func note(_ update: StatusUpdate) {
        guard let part = packs[update.id] else { return }
        switch update {
        case .progress(let id, _, let bytes, _): packs[id]?.bytes = min(bytes, part.total)
        case .opening(let id, _, _), .transferring(let id), .finished(let id, .loaded):
            packs[id]?.bytes = part.total
        case .planned, .began, .sentWhole, .diskSpaceLow, .deferred, .verifying, .awaitingKey, .finished,
            .failed:
            break
        }
    }
}
