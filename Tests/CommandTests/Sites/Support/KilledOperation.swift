@testable import AssetVault

/// A client operation that is killed.
enum KilledOperation: CaseIterable {
    case opened
    /// By a request for its tag.
    case access
    case sealed
    case keyless
    case downloader
    case unlock
    case remove

    /// What the store holds at the start.
    enum Start: CaseIterable {
        /// Nothing; or what the operation needs: version 2 waiting to be unlocked, half of it to be removed.
        case fresh
        /// Version 1, ready for use; and version 2 waiting, where the operation needs it.
        case loaded
    }

    /// The steps that it goes through.
    func steps(from start: Start) -> [StagingStep] {
        switch self {
        // Whatever version is loaded, it is enough.
        case .access where start == .loaded: []
        case .opened, .access:
            Self.recovering + Self.downloading.filter { $0 != .downloadNamed } + Self.opening + [
                .downloadCleared
            ]
        case .sealed:
            Self.recovering + Self.downloading + [
                .manifestSaved, .placesSaved, .versionRenamed, .versionActivated, .activationRecorded,
            ]
        case .keyless, .downloader:
            Self.recovering + Self.downloading + [
                .manifestSaved, .placesSaved, .packShared, .shareRecorded,
            ]
        case .unlock: Self.recovering + Self.opening
        case .remove:
            [.removalRecorded, .waitingRemoved]
                + (start == .loaded ? [.linkRemoved, .versionsRemoved] : [])
        }
    }

    static let recovering: [StagingStep] = [.scratchRecovered, .recordRecovered]
    static let downloading: [StagingStep] = [
        .downloadRecorded, .downloadClaimed, .tailVerified, .pieceWritten, .downloadVerified, .downloadNamed,
    ]
    private static let opening: [StagingStep] = [
        .openingBegan, .treeWritten, .manifestSaved, .tailSaved, .versionRenamed, .versionActivated,
        .activationRecorded,
    ]

    var downloads: Bool { self != .unlock && self != .remove }

    /// What the store holds in the end.
    func end(from start: Start) -> StoreContent {
        switch self {
        case .access: StoreContent(loaded: start == .loaded ? 1 : 2)
        case .opened, .unlock: StoreContent(loaded: 2)
        case .sealed: StoreContent(loaded: 2, isSealed: true)
        case .keyless, .downloader: StoreContent(loaded: start == .loaded ? 1 : nil, waiting: 2)
        case .remove: StoreContent()
        }
    }

    /// The command, for a site at this address.
    func words(_ url: String, _ store: String) -> Words {
        let site: Words = "\(url) --store \(store) $TRUST"
        return switch self {
        case .opened: "fetch \(site) $KEYS"
        case .sealed: "fetch --sealed \(site) $KEYS"
        case .keyless: "fetch \(site)"
        case .downloader: "downloader --request update \(site)"
        case .access: "access one --site \(site) $KEYS -- true"
        case .unlock: "unlock --store \(store) $KEYS"
        case .remove: "remove level --store \(store)"
        }
    }
}
