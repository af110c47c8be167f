extension FaultServer {
    /// A request and what was sent for it so far.
    public struct Exchange: Sendable {
        public let request: Request
        /// 0 stands for no answer at all, or none that is HTTP.
        public private(set) var status = 0
        /// Bytes behind the head that the system took.
        public private(set) var bodyBytes = 0
        /// What was sent of the head; nil once it is complete.
        private var sentHead: [UInt8]? = []

        init(_ request: Request) { self.request = request }

        mutating func note(sent bytes: [UInt8]) {
            guard let before = sentHead else {
                bodyBytes += bytes.count
                return
            }
            let sent = before + bytes.prefix(1 << 16)
            let words = String(decoding: sent.prefix(16), as: UTF8.self).split(separator: " ")
            if words.count > 1, words[0] == "HTTP/1.1" { status = Int(words[1]) ?? 0 }
            guard let end = sent.firstRange(of: Array("\r\n\r\n".utf8)) else {
                sentHead = sent
                return
            }
            bodyBytes += before.count + bytes.count - end.upperBound
            sentHead = nil
        }
    }
}
