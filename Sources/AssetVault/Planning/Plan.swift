import SealedPack

/// The steps for the packs of a store: a function of its inventory and of the offered packs. They run in the order of
/// the members. After a run without refusals and failures, the same question gives an empty plan.
struct Plan: Sendable {
    private(set) var removals: [PlannedRemoval] = []
    private(set) var transfers: [PlannedTransfer] = []
    private(set) var downloads: [PlannedDownload] = []
    /// Packs whose loaded version stays: it is the offered one, or the site no longer lists the pack.
    private(set) var kept: [PackID] = []
    /// The kept packs whose record must be updated to the offered manifest, without a download.
    private(set) var refreshed: [PackManifest] = []
    private(set) var refusals: [PlanRefusal] = []
    /// Packs that are not downloaded because their key is missing and they were not requested.
    private(set) var locked: [PackManifest] = []
    /// Packs that are not downloaded because the network is metered and they were not requested.
    private(set) var deferred: [PackManifest] = []
    /// Packs of the transfers and downloads that become live together.
    private(set) var sets: [PlannedSet] = []
    private var changes: [PlannedSet.Change] = []
    /// All packs that are to change now or once they can: those of ``sets`` and others.
    private(set) var changing: [PackManifest] = []
    private let network: NetworkPolicy
    /// The packs whose key is missing.
    private let lockedIDs: Set<PackID>

    init(_ input: PlanInput) {
        let (stored, trigger) = (input.stored, input.trigger)
        network = input.network
        lockedIDs =
            input.policy.preloadsLockedPacks || trigger.isRequest ? [] : Set(input.missingKeys.keys)
        let named = trigger.named
        let positions = Dictionary(zip(stored.map(\.id), stored.indices), uniquingKeysWith: min)
        var limits = PlanLimits(input)
        var seen: Set<PackID> = []
        for pack in input.offered where named?.contains(pack.id) ?? true {
            guard seen.insert(pack.id).inserted else { continue }
            let found = positions[pack.id].map { stored[$0] } ?? StoredPack(id: pack.id)
            add(pack, from: finishRemoval(of: found), on: trigger, isNamed: named != nil, &limits)
        }
        for found in stored where seen.insert(found.id).inserted {
            let present = finishRemoval(of: found)
            if named?.contains(found.id) ?? true {
                addUnlisted(present, on: trigger, isNamed: named != nil)
            }
            if let next = present.waiting ?? present.loaded, !input.replaced.contains(found.id) {
                limits.countInstalled(next.installedSize, of: next)
            }
        }
        // Sorting is stable: within a class the packs stay in the order offered.
        transfers.sort { $0.priority < $1.priority }
        downloads.sort { $0.rank < $1.rank }
        refuseExcess(&limits, input.costs)
        findSets(areTogether: input.policy.updatesTogether)
    }

    /// The usable files of a pack: none where its removal was begun.
    private mutating func finishRemoval(of pack: StoredPack) -> StoredPack {
        guard pack.isBeingRemoved else { return pack }
        removals.append(.pack(pack.id))
        return StoredPack(id: pack.id, isUnwanted: pack.isUnwanted)
    }

    private mutating func add(
        _ pack: PackManifest, from stored: StoredPack, on trigger: PlanTrigger, isNamed: Bool,
        _ limits: inout PlanLimits
    ) {
        let need = PackNeed(of: pack, from: stored, isAsked: trigger.isRequest)
        let priority = PackPriority(of: pack, hasFailed: stored.hasFailed, isNamed: isNamed, on: trigger)
        let precedence = DownloadPrecedence(of: priority, hasFailed: stored.hasFailed)
        // Essential packs are needed at once, and callers wait for requested packs.
        let networkNeed: NetworkNeed =
            priority == .prefetch && !trigger.isRequest ? .unmeteredNetwork : .anyNetwork
        let loadedSize = stored.loaded?.installedSize ?? 0
        var nextSize = loadedSize
        switch need {
        case .nothing: break
        case .keep: kept.append(pack.id)
        case .refresh:
            kept.append(pack.id)
            refreshed.append(pack)
        case .transfer(let stage):
            let transfer = PlannedTransfer(
                pack: pack, priority: priority, stage: stage, precedence: precedence)
            transfers.append(transfer)
            limits.countTransferred(transfer)
            nextSize = pack.installedSize
        case .download where lockedIDs.contains(pack.id): locked.append(pack)
        case .download where network == .metered && !network.admits(networkNeed): deferred.append(pack)
        case .download(let reason):
            downloads.append(
                PlannedDownload(
                    pack: pack, priority: priority, reason: reason, replacedSize: loadedSize,
                    networkNeed: networkNeed, precedence: precedence))
        }
        if need.isChange {
            changes.append(PlannedSet.Change(pack: pack, isUpdate: stored.loaded != nil, comesNow: false))
        }
        limits.countInstalled(nextSize, of: pack)
        removeFiles(of: stored, except: need.stage)
    }

    /// A pack that was never loaded and whose key is missing is in none: others need not wait until the user has its key.
    private mutating func findSets(areTogether: Bool) {
        let brought = Set(transfers.map(\.pack.id) + downloads.map(\.pack.id))
        let locked = Set(locked.map(\.id))
        changes.removeAll { !$0.isUpdate && locked.contains($0.pack.id) }
        for index in changes.indices { changes[index].comesNow = brought.contains(changes[index].pack.id) }
        changing = changes.map(\.pack)
        sets = PlannedSet.sets(of: changes, areTogether: areTogether)
    }

    private mutating func addUnlisted(_ stored: StoredPack, on trigger: PlanTrigger, isNamed: Bool) {
        let need = PackNeed(ofUnlisted: stored)
        if case .transfer(let stage) = need, let pack = stored.waiting {
            let priority = PackPriority(
                of: pack, hasFailed: stored.hasFailed, isNamed: isNamed, on: trigger)
            transfers.append(PlannedTransfer(pack: pack, priority: priority, stage: stage))
        }
        if case .keep = need { kept.append(stored.id) }
        removeFiles(of: stored, except: need.stage)
    }

    private mutating func removeFiles(of stored: StoredPack, except used: StoredFile.Stage?) {
        removals += stored.files.lazy.filter { $0.stage != used }.map(PlannedRemoval.file)
    }

    private mutating func refuseExcess(_ limits: inout PlanLimits, _ costs: [PackID: UInt64]) {
        var admitted: [PlannedDownload] = []
        for download in downloads {
            if let reason = limits.admit(download, costing: costs[download.pack.id] ?? download.pack.length) {
                refusals.append(PlanRefusal(pack: download.pack, reason: reason))
            } else {
                admitted.append(download)
            }
        }
        downloads = admitted
    }
}

/// The step that brings one pack to the offered version.
enum PackNeed {
    /// It was not requested.
    case nothing
    /// It is loaded just as it is offered.
    case keep
    /// It is loaded, but its record names a failure or a download, or its files may be damaged.
    case refresh
    case transfer(StoredFile.Stage)
    case download(PlannedDownload.Reason)

    /// - Parameter isAsked: whether the app asks for the pack, by name or with all.
    init(of pack: PackManifest, from stored: StoredPack, isAsked: Bool) {
        guard isAsked || !stored.isUnwanted else {
            self = .nothing
            return
        }
        if let loaded = stored.loaded, loaded.sha256 == pack.sha256 {
            let isIntact = !stored.hasFailed && !stored.hasChangedFingerprint && stored.files.isEmpty
            self = loaded == pack && isIntact ? .keep : .refresh
            return
        }
        switch stored.files.first(where: { $0.pack.sha256 == pack.sha256 })?.stage {
        case .partial: self = .download(.adoptedPartial)
        case let whole?: self = .transfer(whole)
        case nil where stored.isPresent: self = .download(.newerVersion)
        case nil: self = pack.offer.policy != .onDemand || isAsked ? .download(.new) : .nothing
        }
    }

    /// The step for a pack that the site no longer lists: its complete files were verified when they were downloaded.
    init(ofUnlisted stored: StoredPack) {
        if let waiting = stored.waiting, waiting.sha256 != stored.loaded?.sha256 {
            self = .transfer(.waiting)
        } else {
            self = stored.loaded == nil ? .nothing : .keep
        }
    }

    /// Whether another version becomes live by it.
    var isChange: Bool {
        switch self {
        case .nothing, .keep, .refresh: false
        case .transfer, .download: true
        }
    }

    /// The file that the step uses.
    var stage: StoredFile.Stage? {
        switch self {
        case .nothing, .keep, .refresh, .download(.new), .download(.newerVersion): nil
        case .transfer(let stage): stage
        case .download(.adoptedPartial): .partial
        }
    }
}

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

    init(of pack: PackManifest, hasFailed: Bool, isNamed: Bool, on trigger: PlanTrigger) {
        self =
            switch pack.offer.policy {
            case _ where isNamed: .foreground
            case .essential: trigger.isBeforeFirstUse && !hasFailed ? .essential : .lateEssential
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

    /// - Parameter hasFailed: an essential pack that failed before does not delay others, because it may fail for ever.
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
