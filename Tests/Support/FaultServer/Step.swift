/// A step of a faulty host on a connection, after it has read the head of a request.
public enum Step: Sendable {
    case send(String)
    case bytes([UInt8])
    /// Sends the same again and again, as fast as the client takes it.
    case endlessly([UInt8])
    /// Sends the same again and again, with a pause after each time.
    case trickle(String, Duration)
    case pause(Duration)
    /// Waits for what the test does meanwhile, or the client's end.
    case until(@Sendable () -> Bool)
    case close
    /// Ends the connection with a TCP reset.
    case reset
    /// Does nothing more, and leaves the connection open.
    case hang
}
