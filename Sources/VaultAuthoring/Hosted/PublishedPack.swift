import SealedPack
import VaultErrors

/// A published version, wherever it is.
struct PublishedPack {
    let open: OpenPack
    let hosted: HostedPack?

    /// Gets pieces that are not there; false where all of them were.
    func fetch(_ pieces: [Int]) async throws(VaultError) -> Bool {
        guard let hosted, !pieces.isEmpty else { return false }
        try await hosted.fetch(pieces, of: open)
        return true
    }
}
