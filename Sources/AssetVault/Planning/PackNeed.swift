import SealedPack

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

    /// - Parameter isAsked: whether the app requests on-demand packs.
    init(of pack: PackManifest, from stored: StoredPack, isAsked: Bool) {
        guard isAsked || !stored.isUnwanted else {
            self = .nothing
            return
        }
        if let loaded = stored.loaded, loaded.sha256 == pack.sha256 {
            let isFine = !stored.hasFailed && !stored.hasChangedFingerprint && stored.files.isEmpty
            self = loaded == pack && isFine ? .keep : .refresh
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

    /// The file that the step uses.
    var stage: StoredFile.Stage? {
        switch self {
        case .nothing, .keep, .refresh, .download(.new), .download(.newerVersion): nil
        case .transfer(let stage): stage
        case .download(.adoptedPartial): .partial
        }
    }
}
