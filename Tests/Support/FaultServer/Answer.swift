extension FaultServer {
    /// How a file of a site is answered.
    public enum Answer: Sendable {
        /// Correctly.
        case file
        /// The whole file, whatever range is requested.
        case wholeFile
        case status(Int)
        /// Other bytes than the file's; with no length said, the connection's end is theirs.
        case bytes([UInt8], length: Int?)
        /// Bytes without end, after a head that says `length`.
        case endless(length: Int?)
        /// The right head, then only so many bytes of the body.
        case cut(after: Int)
        /// Closes the connection instead of an answer.
        case hangUp
        /// The correct answer, changed.
        case changed(@Sendable (inout Reply) -> Void)
        case steps([Step])

        func steps(for request: Request, in site: String) -> [Step] {
            switch self {
            case .file: return Reply(to: request, in: site).steps
            case .wholeFile: return Reply(to: request, in: site, ignoringRange: true).steps
            case .status(let status): return Reply(status: status, body: []).steps
            case .bytes(let bytes, let length):
                var reply = Reply(status: 200, body: bytes)
                reply.headers["Content-Length"] = length.map(String.init)
                return reply.steps
            case .endless(let length):
                var reply = Reply(status: 200, body: [])
                reply.headers["Content-Length"] = length.map(String.init)
                // A JSON document that never comes to its end.
                reply.ending = [.endlessly([UInt8](repeating: UInt8(ascii: " "), count: 1 << 16))]
                return reply.steps
            case .cut(let count):
                var reply = Reply(to: request, in: site)
                reply.body = Array(reply.body.prefix(count))
                return reply.steps
            case .hangUp: return [.close]
            case .changed(let change):
                var reply = Reply(to: request, in: site)
                change(&reply)
                return reply.steps
            case .steps(let steps): return steps
            }
        }
    }
}
