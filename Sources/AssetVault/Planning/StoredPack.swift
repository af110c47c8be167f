import SealedPack

/// The files of one pack in a store. Each member but `id` stands for files of its own.
struct StoredPack: Sendable {
    let id: PackID
    /// In permanent storage, ready for use.
    var loaded: PackManifest?
    /// Complete and verified, in shared storage.
    var waiting: PackManifest?
    /// Complete and verified, still in ephemeral storage.
    var downloaded: PackManifest?
    /// A partial download.
    var partial: PackManifest?
    /// Whether the fingerprint of the loaded version has changed.
    var hasChangedFingerprint = false
    /// Whether the last attempt to get it failed.
    var hasFailed = false
    /// Whether the app removed it: it comes back only when it is asked for.
    var isUnwanted = false
    /// Whether its removal was begun, so that none of its files counts.
    var isBeingRemoved = false

    /// The files that are not ready for use, the furthest staged one first.
    var files: [StoredFile] {
        var files: [StoredFile] = []
        if let waiting { files.append(StoredFile(stage: .waiting, pack: waiting)) }
        if let downloaded { files.append(StoredFile(stage: .downloaded, pack: downloaded)) }
        if let partial { files.append(StoredFile(stage: .partial, pack: partial)) }
        return files
    }

    /// Whether it was ever requested here.
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
