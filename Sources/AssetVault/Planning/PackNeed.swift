import SealedPack

/// What brings one pack to the version that is offered.
enum PackNeed {
    /// Nobody asked for it here.
    case nothing
    /// It is loaded just as it is offered.
    case keep
    /// Its bytes are loaded; the record says something else of it, that an attempt failed, or that more was on its way; or they may be damaged.
    case settle
    case transfer(StoredFile.Stage)
    case download(PlannedDownload.Reason)

    /// - Parameter isAsked: whether the app asks for packs that nobody gets unasked.
    init(of pack: PackManifest, from stored: StoredPack, isAsked: Bool) {
        guard isAsked || !stored.isUnwanted else {
            self = .nothing
            return
        }
        if let loaded = stored.loaded, loaded.sha256 == pack.sha256 {
            let isFine = !stored.hasFailed && !stored.hasChangedFingerprint && stored.files.isEmpty
            self = loaded == pack && isFine ? .keep : .settle
            return
        }
        switch stored.files.first(where: { $0.pack.sha256 == pack.sha256 })?.stage {
        case .partial: self = .download(.adoptedPartial)
        case let whole?: self = .transfer(whole)
        case nil where stored.isPresent: self = .download(.newerVersion)
        case nil: self = pack.offer.policy != .onDemand || isAsked ? .download(.new) : .nothing
        }
    }

    /// What a pack that the site no longer lists still needs: whole files were believed when they came.
    init(ofUnlisted stored: StoredPack) {
        if let waiting = stored.waiting, waiting.sha256 != stored.loaded?.sha256 {
            self = .transfer(.waiting)
        } else {
            self = stored.loaded == nil ? .nothing : .keep
        }
    }

    /// The file that it takes up.
    var stage: StoredFile.Stage? {
        switch self {
        case .nothing, .keep, .settle, .download(.new), .download(.newerVersion): nil
        case .transfer(let stage): stage
        case .download(.adoptedPartial): .partial
        }
    }
}
