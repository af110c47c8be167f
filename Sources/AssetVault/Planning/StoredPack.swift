import SealedPack

/// What a store has of one pack. Each member but `id` stands for files of its own.
struct StoredPack: Sendable {
    let id: PackID
    /// In permanent storage, ready for use.
    var loaded: PackManifest?
    /// Whole and verified, in shared storage.
    var waiting: PackManifest?
    /// Whole and verified, still in ephemeral storage.
    var downloaded: PackManifest?
    /// A download that was begun.
    var partial: PackManifest?
    /// Whether the loaded version looks otherwise than when it was staged.
    var hasChangedFingerprint = false
    /// Whether the last attempt to get it failed.
    var hasFailed = false
    /// Whether the app took it out: it comes back only when it is asked for.
    var isUnwanted = false
    /// Whether its removal was begun, so that nothing of it can be relied on.
    var isBeingRemoved = false

    /// The files that are not ready for use, from the one that has come farthest.
    var files: [StoredFile] {
        var files: [StoredFile] = []
        if let waiting { files.append(StoredFile(stage: .waiting, pack: waiting)) }
        if let downloaded { files.append(StoredFile(stage: .downloaded, pack: downloaded)) }
        if let partial { files.append(StoredFile(stage: .partial, pack: partial)) }
        return files
    }

    /// Whether somebody once wanted it here.
    var isPresent: Bool { loaded != nil || waiting != nil || downloaded != nil || partial != nil }
}

/// A file on its way to permanent storage.
struct StoredFile: Sendable, Hashable {
    enum Stage: Sendable, Hashable {
        case partial
        case downloaded
        case waiting
    }

    let stage: Stage
    let pack: PackManifest
}
