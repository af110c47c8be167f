import FaultServer
import Foundation

extension NetworkFault {
    /// Every kind, with what one fault and what lasting ones may come to: 65 corrupt data, 69 a failing host, 72 a missing file, 76 not to
    /// be trusted. Bytes that are wrong once may be fetched again or refused.
    static let all = lengths + ranges + redirects + refusals + connections + contents

    private static let lengths: [NetworkFault] = [
        .changing("short body", always: [69]) { $0.body.removeLast(($0.body.count + 1) / 2) },
        .changing("long body", always: [0]) { $0.body += [UInt8](repeating: 7, count: 1000) },
        .changing("Content-Length too small", once: [0, 65], always: [65, 69]) {
            $0.headers["Content-Length"] = "\($0.body.count / 2)"
        },
        .changing("Content-Length too large", once: [0, 65], always: [65, 69]) {
            $0.headers["Content-Length"] = "\($0.body.count + 1000)"
        },
        .sending(
            "two lengths", always: [69],
            .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")),
        .sending(
            "broken chunks", always: [69],
            .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello")),
        .changing("endless body", once: [0, 65], always: [0, 65]) {
            $0.headers["Content-Length"] = nil
            $0.ending = [.endlessly([UInt8](repeating: 0, count: 1 << 16))]
        },
        .changing("empty body", once: [0, 65], always: [65, 69]) {
            $0 = FaultServer.Reply(status: 200, body: [])
        },
        .changing("gzip", always: [69]) { $0.headers["Content-Encoding"] = "gzip" },
    ]

    private static let ranges: [NetworkFault] = [
        NetworkFault("the whole for a part", always: [0], isOfParts: true) { _, _ in .wholeFile },
        .changing("another start", once: [0, 65], always: [65, 69], isOfParts: true) { $0.dropFirstByte() },
        .changing("another total", once: [0, 65], always: [65, 69], isOfParts: true) {
            $0.headers["Content-Range"]?.append("0")
        },
        .changing("a range of nonsense", always: [69], isOfParts: true) {
            $0.headers["Content-Range"] = "bytes 9-3/x"
        },
        .changing("no range", always: [69], isOfParts: true) { $0.headers["Content-Range"] = nil },
        .changing("several parts", always: [69], isOfParts: true) { reply in
            let range = reply.headers.removeValue(forKey: "Content-Range") ?? ""
            reply.headers["Content-Type"] = "multipart/byteranges; boundary=b"
            reply.body =
                Array("--b\r\nContent-Range: \(range)\r\n\r\n".utf8) + reply.body + Array("\r\n--b--".utf8)
            reply.headers["Content-Length"] = "\(reply.body.count)"
        },
        .changing("another entity tag each time", always: [0], isOfParts: true) {
            $0.headers["ETag"] = "\"\(UUID())\""
        },
        .status(416, once: [0, 65], always: [65, 69]),
    ]

    private static let redirects: [NetworkFault] = [
        .redirect("redirect in a circle") { request, _ in "/\(request.path)" },
        .redirect("redirect to nowhere") { _, _ in nil },
        .redirect("redirect to another scheme") { request, _ in "ftp://localhost/\(request.path)" },
        .redirect("redirect from https to http", isSecure: true) {
            request, pack in "\(pack.mirror)\(request.path)"
        },
        .redirect(
            "redirect to a host that is not allowed", once: [76], always: [76],
            arguments: ["--allow-domain", "127.0.0.1"]
        ) { request, pack in
            pack.mirror.replacing("127.0.0.1", with: "localhost") + request.path
        },
    ]

    private static let refusals: [NetworkFault] = [
        .status(204), .status(304), .status(401), .status(403, once: [72], always: [72]),
        .status(404, once: [72], always: [72]),
        .status(410, once: [72], always: [72]), .status(500),
        .status(503),
        .status(429, "for seconds") { ["Retry-After": "1"] },
        .status(429, "until a moment") {
            ["Retry-After": Date(timeIntervalSinceNow: 1).inHTTP]
        },
        .status(429, once: [0, 69], "for years") { ["Retry-After": "99999999"] },
    ]

    private static let connections: [NetworkFault] = [
        NetworkFault("closed before the head", always: [69]) { _, _ in .hangUp },
        .sending(
            "closed in the head", always: [69], .send("HTTP/1.1 200 OK\r\nContent-Le"),
            .pause(.milliseconds(300))),
        .sending(
            "endless head", always: [69], .send("HTTP/1.1 200 OK\r\n"),
            .endlessly(Array(String(repeating: "X-Y: z\r\n", count: 1000).utf8))),
        .sending("no HTTP", always: [69], .send("SSH-2.0-OpenSSH_9.2\r\n")),
        .changing("reset at every 64 KiB", always: [0, 69]) {
            $0.body = Array($0.body.prefix(1 << 16))
            // Bytes in transit would be lost.
            $0.ending = [.pause(.milliseconds(100)), .reset]
        },
        .changing("trickle", always: [0]) { $0.pace = (count: 4096, pause: .milliseconds(5)) },
    ]

    private static let contents: [NetworkFault] = [
        NetworkFault("login page", once: [0, 65], always: [65]) { _, _ in
            let page = Array("<!DOCTYPE html><html><body>Please log in.</body></html>\n".utf8)
            return .bytes(page, length: page.count)
        },
        .changing("flipped bit", once: [0, 65], always: [65]) { $0.body[$0.body.count / 2] ^= 1 },
        .changing("halves in the wrong order", once: [0, 65], always: [65]) {
            let half = $0.body.count / 2
            $0.body = Array($0.body.dropFirst(half) + $0.body.prefix(half))
        },
        NetworkFault("another pack", once: [0, 65], always: [65]) { _, pack in
            .changed { reply in
                reply.body = Array((pack.other + pack.other).suffix(pack.size).suffix(reply.body.count))
            }
        },
    ]
}

extension FaultServer.Reply {
    /// Sends a part that begins later than was asked for, and says so.
    fileprivate mutating func dropFirstByte() {
        let words = headers["Content-Range", default: ""].split { !$0.isNumber }
        guard words.count == 3, let first = Int(words[0]) else { return }
        body.removeFirst()
        headers["Content-Range"] = "bytes \(first + 1)-\(words[1])/\(words[2])"
        headers["Content-Length"] = "\(body.count)"
    }
}

extension Date {
    /// As `Sun, 06 Nov 1994 08:49:37 GMT`.
    var inHTTP: String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: self)
    }
}
