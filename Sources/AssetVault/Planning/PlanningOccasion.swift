import SealedPack

/// The role and the occasion that a plan is made for.
enum PlanningOccasion: Sendable {
    case downloader(ContentRequest)
    case app(PackSelection)

    /// Whether this brings the initial set of downloads, which alone the allowances limit.
    var isInitial: Bool {
        if case .downloader(.install) = self { true } else { false }
    }

    /// Whether essential packs get their own priority and limits: before the first use, so never in the app itself.
    var allowsEssentialDownloads: Bool {
        switch self {
        case .downloader(.install), .downloader(.update): true
        case .downloader(.periodic), .app: false
        }
    }

    /// Whether the app requests on-demand packs.
    var asksForAll: Bool {
        if case .app(.all) = self { true } else { false }
    }

    /// Whether a removed pack is requested again.
    var isRequest: Bool { named != nil || asksForAll }

    /// The packs that the app waits for; nil when it names none.
    var named: Set<PackID>? {
        if case .app(.only(let ids)) = self { Set(ids) } else { nil }
    }
}
