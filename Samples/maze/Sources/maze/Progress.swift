import AssetVault

/// The progress line of a pack that is being downloaded.
struct Progress: Sendable {
    private static let width = 20

    /// Nil before the first update.
    private(set) var line: String?
    private var hasBegun = false

    /// Whether the line changed.
    mutating func take(_ update: StatusUpdate) -> Bool {
        let earlier = line
        switch update {
        case .began: hasBegun = true
        case .progress(let id, _, let bytes, let total):
            show("fetching \(id)", bytes, total)
            // Bytes of an earlier run are not fetched again.
            if hasBegun, bytes > 0 { line? += " from byte \(bytes)" }
            hasBegun = false
        case .opening(let id, let bytes, let total): show("opening \(id)", bytes, total)
        case .finished(let id, .loaded): line = "\(id) is ready"
        case .finished(let id, .toBeTransferred): line = "\(id) is here, sealed"
        case .failed(let id, let error) where error.category == .key: line = "\(id) is locked"
        case .failed(let id, let error): line = "\(id): \(error.problem)".escapingControls
        case .awaitingKey(let id, _): line = "\(id) is locked"
        case .diskSpaceLow(let id, let missing): line = "\(missing) bytes of disk space are missing for \(id)"
        case .deferred(let id): line = "\(id) waits for a network that is not metered"
        case .awaitingSet(let id, let missing): line = "\(id) waits for \(missing)"
        case .planned, .sentWhole, .verifying, .transferring, .finished: break
        }
        return line != earlier
    }

    private mutating func show(_ what: String, _ bytes: UInt64, _ total: UInt64) {
        let share = total == 0 ? 1 : min(1, Double(bytes) / Double(total))
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        line = "\(what) [\(bar)] \(Int(share * 100)) %"
    }
}
