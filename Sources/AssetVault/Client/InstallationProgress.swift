public import SealedPack
import VaultBytes

/// The combined progress of several downloads: one bar for an installation.
///
/// ```swift
/// var progress = InstallationProgress(of: [.essential])
/// for await update in client.statusUpdates { bar.show(progress.note(update).fraction) }
/// ```
///
/// The total is known from the start: a plan announces all its downloads before the first one begins. A pack that failed still
/// counts, with the bytes that came of it: the bar reaches its end only when every planned pack is there. A pack that is left until
/// the network is not metered (``StatusUpdate/deferred(_:)``) no longer counts.
public struct InstallationProgress: Sendable, Hashable {
    private struct Part: Hashable {
        var bytes: UInt64 = 0
        let total: UInt64
    }

    private let policies: Set<PackPolicy>
    private var parts: [PackID: Part] = [:]

    /// - Parameter policies: the packs that count; all where none is named.
    public init(of policies: Set<PackPolicy> = Set(PackPolicy.allCases)) { self.policies = policies }

    /// Bytes that were downloaded.
    public var bytes: UInt64 { parts.values.saturatingSum(\.bytes) }

    /// Bytes in all.
    public var total: UInt64 { parts.values.saturatingSum(\.total) }

    /// From 0 to 1; 0 as long as no download is planned.
    public var fraction: Double { total == 0 ? 0 : Double(bytes) / Double(total) }

    /// Adds an update; they must come in their order. Returns itself.
    @discardableResult
    public mutating func note(_ update: StatusUpdate) -> InstallationProgress {
        switch update {
        case .planned(let id, let policy, let total):
            if policies.contains(policy) { parts[id] = Part(total: total) }
        case .progress(let id, _, let bytes, _): parts[id]?.bytes = bytes
        case .opening(let id, _, _), .transferring(let id), .finished(let id, _):
            if let part = parts[id] { parts[id]?.bytes = part.total }
        case .deferred(let id): parts[id] = nil
        case .began, .failed, .sentWhole, .diskSpaceLow, .verifying, .awaitingKey: break
        }
        return self
    }
}
