import SealedPack
import VaultCrypto

/// What can happen to a pack. A record changes by these alone (``PackRecord/after(_:)``).
enum PackEvent: Sendable {
    /// A process is about to correct the record by the files on the disk.
    case found(PackFiles)
    /// Its download begins.
    case downloadBegan(PackManifest, listedBy: ListingVersion)
    /// It is complete in shared storage.
    case shared(PackManifest, listedBy: ListingVersion)
    /// What waited in shared storage was damaged, and is a partial download again.
    case returned(PackManifest, listedBy: ListingVersion)
    /// It is about to become live or ready: what an older listing decided no longer counts.
    case decided(PackManifest, listedBy: ListingVersion)
    /// It is complete in permanent storage, and the others of its set are not yet.
    case becameReady(PackRecord.Ready, listedBy: ListingVersion)
    /// `current` leads to it. The fingerprint is nil where it was not taken now.
    case activated(PackRecord.Loaded, fingerprint: SHA256Digest?, listedBy: ListingVersion)
    /// The listing no longer has it: what was never live does not become live.
    case withdrawn(by: ListingVersion)
    /// A downloader found that the app has it loaded.
    case neededNoDownload
    /// No key that is here opens it. That is not a failure.
    case lackedKey
    case failed(PackFailure)
    /// Its live version was verified.
    case verified(PackRecord.Loaded, fingerprint: SHA256Digest)
    /// This store has not verified the listing that the record names.
    case doubted(ListingVersion)
    /// The app asked for it.
    case requested
    case formChosen(PackForm)
    /// The app declared whether it may be removed when disk space is needed.
    case declared(isPurgeable: Bool)
    /// Whether other variants replace it on this device.
    case variantChosen(isReplaced: Bool)
    /// The app decided on it under another ID; its record has these decisions.
    case renamed(from: PackRecord)
    case removalBegan(PackRemovalReason)
    /// None of its files is left, but those that a reader holds.
    case removalEnded
}

/// Why a pack is removed: it says what brings it back.
enum PackRemovalReason: Sendable {
    /// By the app: a request brings it back.
    case asked
    /// Disk space was needed. A replaced variant comes back when this device needs it again, another pack by a request.
    case purged
    /// The site does not list it, or lists it under another ID: it comes back when it is listed.
    case unlisted
}

/// What is on the disk of the versions that a record names.
struct PackFiles: Sendable {
    /// Whether the record could not be read, and was made of the files alone.
    var isRecordLost = false
    /// Whether the version that was arriving is complete.
    var hasArrived = false
    /// Whether the version that waits is there.
    var isWaiting = false
    /// Whether the version that is ready is there.
    var isReady = false
    /// The live version.
    var live: PackRecord.Loaded?
}

extension PackRecord {
    /// The record after an event. Nil where the event changes nothing, because a newer listing decided on the pack, or the app removed
    /// it.
    func after(_ event: PackEvent) -> PackRecord? {
        var record = self
        switch event {
        case .found(let files): record.follow(files)
        case .downloadBegan(let pack, let listing):
            guard accepts(listing) else { return nil }
            (record.arriving, record.arrivingListing) = (pack, listing)
        case .shared(let pack, let listing):
            guard accepts(listing) else { return nil }
            record.listing = listing
            (record.waiting, record.arriving, record.failure) = (pack, nil, nil)
        case .returned(let pack, let listing):
            guard accepts(listing), waiting.map({ $0.sha256 == pack.sha256 }) ?? true else { return nil }
            record.waiting = nil
            (record.arriving, record.arrivingListing) = (pack, listing)
        case .decided(let pack, let listing):
            guard accepts(listing) else { return nil }
            record.listing = listing
            if waiting?.sha256 != pack.sha256 { record.waiting = nil }
        case .becameReady(let ready, let listing):
            guard accepts(listing) else { return nil }
            record.install(ready.version, listing)
            record.ready = ready
        case .activated(let version, let fingerprint, let listing):
            guard accepts(listing) else { return nil }
            record.install(version, listing)
            let isSame = loaded?.name.text == version.name.text
            record.fingerprint = fingerprint ?? (isSame ? self.fingerprint : nil)
            (record.loaded, record.ready) = (version, nil)
        case .withdrawn(let listing):
            guard accepts(listing) else { return nil }
            (record.ready, record.listing) = (nil, listing)
        case .neededNoDownload: (record.arriving, record.failure) = (nil, nil)
        case .lackedKey: record.failure = nil
        case .failed(let failure):
            // If the pack is live and nothing is under way, only its clean-up failed: nothing is lost.
            guard !isRemoved, loaded == nil || waiting != nil || arriving != nil else { return nil }
            record.failure = failure
        case .verified(let version, let fingerprint):
            guard loaded?.name.text == version.name.text else { return nil }
            record.fingerprint = fingerprint
        case .doubted(let listing):
            guard self.listing == listing else { return nil }
            record.listing = ListingVersion()
        case .requested: record.isRemoved = false
        case .formChosen(let form): record.chosenForm = form
        case .declared(let isPurgeable):
            (record.isDeclaredPurgeable, record.isKept) = (isPurgeable, !isPurgeable)
            if !isPurgeable { record.isReplacedVariant = false }
        case .variantChosen(let isReplaced): record.isReplacedVariant = isReplaced
        case .renamed(let old):
            record.isRemoved = old.isRemoved
            record.chosenForm = chosenForm ?? old.chosenForm
            (record.isDeclaredPurgeable, record.isKept) = (old.isDeclaredPurgeable, old.isKept)
        case .removalBegan(let reason):
            record.chosenForm = chosenForm ?? loaded?.form
            record.isRemoved = true
            switch reason {
            case .asked: record.isReplacedVariant = false
            case .purged: break
            case .unlisted: record.isReplacedVariant = true
            }
        case .removalEnded:
            record = PackRecord()
            (record.generation, record.listing, record.chosenForm) = (generation, listing, chosenForm)
            record.isRemoved = !isReplacedVariant
        }
        return record
    }

    /// A version is complete in permanent storage: nothing of the pack is under way.
    private mutating func install(_ version: Loaded, _ listing: ListingVersion) {
        self.listing = listing
        chosenForm = chosenForm ?? version.form
        (waiting, arriving, failure) = (nil, nil, nil)
    }

    private mutating func follow(_ files: PackFiles) {
        let waited = waiting?.sha256
        // A newer listing decided meanwhile.
        if arrivingListing < listing { arriving = nil }
        if let arrived = arriving, files.hasArrived {
            // It was downloaded since: the earlier failure no longer counts.
            (waiting, arriving, failure) = (arrived, nil, nil)
            listing = arrivingListing
        } else if !files.isWaiting {
            waiting = nil
        }
        loaded = files.live
        if let next = ready {
            // It may be live by now, or gone.
            if loaded?.name.text == next.version.name.text {
                (loaded, fingerprint, ready) = (next.version, next.fingerprint, nil)
            } else if !files.isReady {
                ready = nil
            }
        }
        chosenForm = chosenForm ?? loaded?.form
        guard let loaded else { return }
        // Without a record it is not known to replace the live version; at worst it is downloaded once more.
        if files.isRecordLost, let waiting, waiting.version <= loaded.pack.version { self.waiting = nil }
        // It waited and is live now: the earlier failure no longer counts.
        if loaded.pack.sha256 == waited { failure = nil }
        if loaded.pack.sha256 == waiting?.sha256 { waiting = nil }
        // Unless it arrives to be kept in another form.
        if loaded.pack.sha256 == arriving?.sha256, chosenForm == loaded.form { arriving = nil }
    }
}
