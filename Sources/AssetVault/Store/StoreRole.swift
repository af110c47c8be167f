/// Who works on a store. Each role keeps what it decides in a place of its own, so that one of them may run as another
/// user, or in a sandbox, without being able to decide for the other.
enum StoreRole: Sendable, CaseIterable {
    /// Opens packs and keeps them ready for use. Alone writes permanent storage, and believes nothing that stands elsewhere
    /// but by signatures and digests.
    case app
    /// Brings packs to shared storage, without any key. Reads what the app decided, and writes none of it.
    case downloader
}
