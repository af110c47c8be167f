/// The occasion of a downloader's run.
public enum ContentRequest: String, Sendable, CaseIterable {
    /// The app was installed and was not used yet.
    case install
    /// The app was replaced by a newer one and was not used since.
    case update
    /// Time has passed.
    case periodic
}
