import SealedPack

/// One pack to be worked on.
struct StagingTask: Sendable {
    let id: PackID
    /// Nil for a waiting pack that only needs to be opened.
    let offer: LocatedPack?
    /// Whether the app asks for it: then it is staged even if it was removed.
    var isRequested = false
    /// What it needs of the network: what waits only needs to be opened.
    var need = NetworkNeed.anyNetwork
    /// Whether others wait for it, or it waits for others.
    var precedence = DownloadPrecedence.independent
    /// Whether it is to be opened now, so that a missing key is a failure.
    var needsKey = false
}
