public import SealedPack
public import VaultBase
public import VaultCrypto

/// What a fetch did with the selected packs, in the order in which they were planned. Packs that were ready for use before, just as
/// the site lists them, are not in it.
public struct FetchReport: Sendable, Equatable {
    /// Ready for use now.
    public internal(set) var loaded: [PackID] = []
    /// Wait for their key; nothing failed.
    public internal(set) var awaitingKey: [PackAwaitingKey] = []
    /// Not in use before all of their set is: another pack of it failed, waits for its key or was not downloaded. Earlier versions stay
    /// in use, and the next fetch continues.
    public internal(set) var awaitingSet: [PackID] = []
    /// Left for a network that is not metered.
    public internal(set) var deferred: [PackID] = []
    /// Why packs failed, and which parts of the site could not be verified; the first one is the most important. Earlier versions stay
    /// in use.
    public internal(set) var failed: [VaultError] = []

    /// The same with the names that the store knows.
    func named(as store: VaultStore) -> Self {
        var report = self
        report.loaded = loaded.map(store.shownID)
        report.awaitingKey = awaitingKey.map(store.shown)
        report.awaitingSet = awaitingSet.map(store.shownID)
        report.deferred = deferred.map(store.shownID)
        report.failed = failed.map(store.shown)
        return report
    }

    /// Throws the first failure, and `.key` for a pack that none of the given keys opens.
    func requireUnlocked() throws(VaultError) {
        if let failure = failed.first { throw failure }
        if let locked = awaitingKey.first(where: \.isLocked) { throw locked.error }
    }

    /// Throws `.key` for the first pack that waits for its key: for apps that can do nothing without it.
    public func requireKeys() throws(VaultError) {
        if let pack = awaitingKey.first { throw pack.error }
    }
}

/// A pack that waits for a key.
public struct PackAwaitingKey: Sendable, Equatable {
    public let id: PackID
    /// The vault keys that it is sealed for: any of them opens it.
    public let keyIDs: [KeyID]
    /// Whether keys were given, and none of them opens it.
    public let isLocked: Bool
    /// Whether it is downloaded and verified, so that it opens without the site.
    public let isDownloaded: Bool
    /// The same as an error, of the category `.key`: which keys it is sealed for, and which were given.
    public let error: VaultError
}

extension PackAwaitingKey {
    /// - Parameter error: nil where no key was given.
    init(_ pack: PackManifest, isDownloaded: Bool, _ error: VaultError?) {
        self.init(
            id: pack.id, keyIDs: pack.slots.map(\.keyID), isLocked: error != nil, isDownloaded: isDownloaded,
            error: error ?? .awaitingKey(pack.id))
    }
}

extension VaultError {
    static func awaitingKey(_ id: PackID) -> VaultError {
        VaultError(
            .key, "the pack is verified and waits for its key", at: id.description,
            remedy: "unlock it when the key is there", hint: .givingKey)
    }
}
