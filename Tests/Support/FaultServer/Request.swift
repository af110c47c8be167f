extension FaultServer {
    /// What a client asked for.
    public struct Request: Sendable {
        /// All lines of the head, without the empty one at its end.
        public let head: String
        /// Without the slash at its beginning.
        public let path: String
        /// How many requests for the same path came before.
        public let earlier: Int
        /// Where the server is: its scheme, name and port.
        public let base: String

        init(head: String, earlier: Int, base: String) {
            (self.head, self.earlier, self.base) = (head, earlier, base)
            path = Self.path(of: head)
        }

        public var isForPack: Bool { path.hasSuffix(".avpack") }

        /// The value of a header; nil without one.
        public func header(_ name: String) -> String? {
            let prefix = "\(name.lowercased()):"
            let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
            return line.map { String($0.dropFirst(prefix.count).drop { $0 == " " }) }
        }

        /// The first byte of the range that is asked for; 0 without one.
        public var start: Int { range?.first ?? 0 }

        /// The one range that is asked for; `last` is nil for all that follows.
        public var range: (first: Int, last: Int?)? {
            guard let value = header("Range"), value.hasPrefix("bytes=") else { return nil }
            let ends = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Int(ends[0]) else { return nil }
            return (first, Int(ends[1]))
        }

        static func path(of head: String) -> String {
            let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
            return words.count > 1 ? String(words[1].drop { $0 == "/" }) : ""
        }
    }
}
