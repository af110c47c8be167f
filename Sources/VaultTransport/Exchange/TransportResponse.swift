/// A site's response. Every other response is an error.
public enum TransportResponse: Sendable {
    /// The whole file (200), also where a part was requested and the host does not support ranges.
    case whole(TransportBody)
    /// Exactly the requested part, up to the end of the file (206).
    case part(ContentRange, TransportBody)
    /// No such file: 404, 410, or 403, which object stores send for a missing object.
    case absent
    /// The part begins after the end of the file (416); `total` is the file's size if the host sent it.
    case outOfRange(total: UInt64?)
    /// The host is busy (503), or limits this client (429); `retryAfter` is the wait that it requested, if any.
    case busy(retryAfter: Duration?)
}
