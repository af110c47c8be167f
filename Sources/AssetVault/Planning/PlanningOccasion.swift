import SealedPack

/// For whom a plan is made, and why.
enum PlanningOccasion: Sendable {
    case downloader(ContentRequest)
    case app(PackSelection)

    /// Whether this brings the initial set of downloads, which alone the allowances limit.
    var isInitial: Bool {
        if case .downloader(.install) = self { true } else { false }
    }

    /// Whether packs are downloaded as essential ones: before the first use, so never by the app itself.
    var allowsEssentialDownloads: Bool {
        switch self {
        case .downloader(.install), .downloader(.update): true
        case .downloader(.periodic), .app: false
        }
    }

    /// Whether the app asks for packs that nobody gets unasked.
    var asksForAll: Bool {
        if case .app(.all) = self { true } else { false }
    }

    /// Whether a pack that the app removed is wanted again.
    var isRequest: Bool { named != nil || asksForAll }

    /// The packs that the app waits for; nil when it names none.
    var named: Set<PackID>? {
        if case .app(.only(let ids)) = self { Set(ids) } else { nil }
    }
}
