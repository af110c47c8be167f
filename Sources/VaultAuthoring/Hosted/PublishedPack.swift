import SealedPack
import VaultErrors

/// A published version, on this machine or at the host.
struct PublishedPack {
    let open: OpenPack
    let hosted: HostedPack?

    /// Fetches missing pieces; false where none is missing.
    func fetch(_ pieces: [Int]) async throws(VaultError) -> Bool {
        guard let hosted, !pieces.isEmpty else { return false }
        try await hosted.fetch(pieces, of: open)
        return true
    }
}
