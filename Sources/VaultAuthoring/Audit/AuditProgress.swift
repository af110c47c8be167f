/// The progress of an audit with one pack.
public struct AuditProgress: Sendable {
    public enum Step: String, Sendable {
        /// From a host into a scratch file.
        case fetching
        /// Against its digests.
        case checking
        /// With a key.
        case opening
    }

    public let step: Step
    /// The pack's ID or its file.
    public let pack: String
    /// Bytes.
    public let done: UInt64
    public let total: UInt64
}
