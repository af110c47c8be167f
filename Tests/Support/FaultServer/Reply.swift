import Foundation

extension FaultServer {
    /// An answer that a script may change before it is sent.
    public struct Reply: Sendable {
        public var status: Int
        public var headers: [String: String]
        public var body: [UInt8]
        /// What comes behind the body.
        public var ending: [Step] = [.close]
        /// How many bytes are sent at a time, and the pause behind them; nil sends all at once.
        public var pace: (count: Int, pause: Duration)?

        /// The body with its own length declared.
        public init(status: Int, body: [UInt8]) {
            (self.status, self.body) = (status, body)
            headers = ["Connection": "close", "Content-Length": "\(body.count)"]
        }

        /// A correct host's answer (RFC 9110): the file of the folder `site`, or the requested range of it.
        public init(to request: Request, in site: String, ignoringRange: Bool = false) {
            let url = URL(filePath: site).appending(path: request.path)
            guard let file = try? Data(contentsOf: url) else {
                self.init(status: 404, body: [])
                return
            }
            let changed = try? url.resourceValues(forKeys: [.contentModificationDateKey])
                .contentModificationDate
            let tag = "\"\(file.count)-\(changed?.timeIntervalSince1970 ?? 0)\""
            let isStillTheSame = request.header("If-Range").map { $0 == tag } ?? true
            guard let range = request.range, isStillTheSame, !ignoringRange else {
                self.init(status: 200, body: [UInt8](file))
                headers["ETag"] = tag
                return
            }
            let last = min(range.last ?? .max, file.count - 1)
            guard range.first <= last else {
                self.init(status: 416, body: [])
                headers["Content-Range"] = "bytes */\(file.count)"
                return
            }
            self.init(status: 206, body: [UInt8](file[range.first...last]))
            headers["Content-Range"] = "bytes \(range.first)-\(last)/\(file.count)"
            headers["ETag"] = tag
        }

        var steps: [Step] {
            let lines = ["HTTP/1.1 \(status) So"] + headers.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
            var steps: [Step] = [.send(lines.joined(separator: "\r\n") + "\r\n\r\n")]
            if let pace {
                var rest = body[...]
                while !rest.isEmpty {
                    steps += [.bytes(Array(rest.prefix(pace.count))), .pause(pace.pause)]
                    rest = rest.dropFirst(pace.count)
                }
            } else if !body.isEmpty {
                steps.append(.bytes(body))
            }
            return steps + ending
        }
    }
}
