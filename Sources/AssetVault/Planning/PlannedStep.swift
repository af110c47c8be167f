import SealedPack

/// The priority of a pack, the most urgent first.
enum PackPriority: Int, Sendable, Comparable, CaseIterable {
    /// The app named it and waits for it.
    case foreground
    /// Before the first use.
    case essential
    /// An essential pack that failed, or whose time has passed: before all other packs.
    case lateEssential
    case prefetch
    case onDemand

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    init(of pack: PackManifest, hasFailed: Bool, isNamed: Bool, on occasion: PlanningOccasion) {
        self =
            switch pack.offer.policy {
            case _ where isNamed: .foreground
            case .essential: occasion.allowsEssentialDownloads && !hasFailed ? .essential : .lateEssential
            case .prefetch: .prefetch
            case .onDemand: .onDemand
            }
    }
}

/// Whether the download of a pack waits for others, or others for it.
enum DownloadPrecedence: Sendable, Equatable {
    /// No download that waits for essential packs runs until this one is there or has failed.
    case essential
    case independent
    case afterEssentials

    /// - Parameter hasFailed: an essential pack that failed before holds up nothing: it may fail for ever.
    init(of priority: PackPriority, hasFailed: Bool) {
        self =
            switch priority {
            case .foreground: .independent
            case .essential, .lateEssential: hasFailed ? .independent : .essential
            case .prefetch, .onDemand: .afterEssentials
            }
    }
}

struct PlannedDownload: Sendable, Equatable {
    enum Reason: Sendable {
        case new
        /// Another version is stored. The metadata says which is newer, not the number: a publisher may restore an
        /// earlier one.
        case newerVersion
        /// A partial download of exactly this pack exists.
        case adoptedPartial
    }

    let pack: PackManifest
    let priority: PackPriority
    let reason: Reason
    /// Disk space of the loaded version, which stays until this one replaces it.
    let replacedSize: UInt64
    var networkNeed = NetworkNeed.anyNetwork
    var precedence = DownloadPrecedence.independent

    var isEssential: Bool { priority == .essential }

    /// Within a class, partial downloads come first.
    var rank: (Int, Int) { (priority.rawValue, reason == .adoptedPartial ? 0 : 1) }
}

/// A complete pack that only needs to be opened.
struct PlannedTransfer: Sendable, Equatable {
    /// As it is offered now: its slots may be newer than those that it was downloaded with.
    let pack: PackManifest
    let priority: PackPriority
    /// Where its file is.
    let stage: StoredFile.Stage
    var precedence = DownloadPrecedence.independent
}

enum PlannedRemoval: Sendable, Hashable {
    /// All files of a pack whose removal was begun.
    case pack(PackID)
    /// A file that will never be opened.
    case file(StoredFile)
}
