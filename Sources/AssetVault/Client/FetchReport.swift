public import SealedPack
public import VaultErrors
public import VaultKeys

/// What a fetch could not make ready for use, although nothing failed: packs whose key is not here.
public struct FetchReport: Sendable, Equatable {
    /// In the order in which they were planned; empty where all selected packs are ready for use, or left for an unmetered network.
    public let awaitingKey: [PackAwaitingKey]

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
