/// The two roles that use a store. Each keeps its decisions in an area of its own, so that one may run as another user, or in
/// a sandbox, without being able to decide for the other.
enum StoreRole: Sendable, CaseIterable {
    /// Opens packs and keeps them ready for use. It alone writes permanent storage, and verifies the signatures and digests of
    /// everything else.
    case app
    /// Downloads packs to shared storage, without any key. It reads the app's decisions, and writes none.
    case downloader
}
