/// What a site answered. Every other answer is an error.
public enum TransportResponse: Sendable {
    /// The whole file (200), also where a part was asked for and the host does not do parts.
    case whole(TransportBody)
    /// Exactly the part that was asked for, or as much of it as the file has (206).
    case part(ContentRange, TransportBody)
    /// No such file: 404, 410, or 403, which object stores answer for a missing object.
    case absent
    /// The part begins behind the end of the file (416), which has `total` bytes if the host says so.
    case outOfRange(total: UInt64?)
    /// The host answers nobody (503), or not this client (429), for now; and how long it asks to wait, if it says so.
    case busy(retryAfter: Duration?)
}
