import Foundation
import Synchronization

/// A web server of a site that misbehaves on purpose, and writes down what it sent.
final class FaultServer: Sendable {
    struct Request: Sendable {
        let path: String
        /// The first byte of the range that is asked for; 0 without one.
        let start: Int
        /// The last byte of it; nil for the end of the file.
        let end: Int?
        /// Whether a part was asked for.
        let isRange: Bool
        /// How many requests for the same path came before.
        let earlier: Int

        var isForPack: Bool { path.hasSuffix(".avpack") }
    }

    enum Answer: Sendable {
        /// As it should be.
        case file
        /// The whole file, whatever part is asked for.
        case wholeFile
        case status(Int)
        /// Other bytes than the file's; with no length said, the connection's end is theirs.
        case bytes([UInt8], length: Int?)
        /// Bytes without end, after a head that says `length`.
        case endless(length: Int?)
        /// The right head, then only so many bytes of the body.
        case cut(after: Int)
        /// The connection's end instead of an answer.
        case hangUp
    }

    /// What was sent; status 0 stands for no answer at all.
    struct Entry: Sendable {
        let request: Request
        let status: Int
        let bodyBytes: Int
    }

    private final class Journal: Sendable {
        let entries = Mutex<[Entry]>([])
        let asked = Mutex<[String: Int]>([:])
    }

    let url: String
    private let socket: ListeningSocket
    private let journal = Journal()

    /// Serves the folder `site` on a free port of 127.0.0.1 until the server goes away.
    init(_ site: String, _ script: @escaping @Sendable (Request) -> Answer = { _ in .file }) throws {
        socket = try ListeningSocket()
        url = "http://127.0.0.1:\(socket.port)/"
        socket.serve { [journal] connection in
            guard let request = Self.readRequest(from: connection, journal) else { return }
            let file = try? Data(contentsOf: URL(filePath: site).appending(path: request.path))
            let entry = Self.answer(request, script(request), file.map { [UInt8]($0) }, connection)
            journal.entries.withLock { $0.append(entry) }
        }
    }

    deinit { socket.stop() }

    /// The answers to requests for packs.
    var packs: [Entry] { journal.entries.withLock { $0.filter(\.request.isForPack) } }

    /// The paths that were asked for and were there, in order.
    var sent: [String] { journal.entries.withLock { $0.filter { $0.status < 300 }.map(\.request.path) } }

    /// Bytes of pack bodies that were sent.
    var packBytes: Int { packs.reduce(0) { $0 + $1.bodyBytes } }

    private static func readRequest(
        from connection: borrowing ListeningSocket.Connection, _ journal: Journal
    ) -> Request? {
        guard let lines = connection.readHead(), let words = lines.first?.split(separator: " "),
            words.count == 3
        else { return nil }
        let path = String(words[1].drop { $0 == "/" })
        let range = lines.first { $0.lowercased().hasPrefix("range: bytes=") }
        let ends = range?.split(separator: "=").last?.split(separator: "-").map { Int($0) } ?? []
        let start = ends.first ?? nil
        let earlier = journal.asked.withLock { asked in
            defer { asked[path, default: 0] += 1 }
            return asked[path, default: 0]
        }
        return Request(
            path: path, start: start ?? 0, end: ends.count > 1 ? ends[1] : nil, isRange: range != nil,
            earlier: earlier)
    }

    private static func answer(
        _ request: Request, _ answer: Answer, _ file: [UInt8]?,
        _ connection: borrowing ListeningSocket.Connection
    ) -> Entry {
        var status = 200
        var sent = 0
        func send(_ body: ArraySlice<UInt8>, length: Int?) {
            var lines = ["HTTP/1.1 \(status) So", "Connection: close"]
            if let length { lines.append("Content-Length: \(length)") }
            if status == 206, let file {
                let end = request.end ?? file.count - 1
                lines.append("Content-Range: bytes \(request.start)-\(end)/\(file.count)")
            }
            let head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
            if connection.send(head[...]) == head.count { sent += connection.send(body) }
        }
        switch (answer, file) {
        case (.hangUp, _): status = 0
        case (.status(let code), _):
            status = code
            send([], length: 0)
        case (.bytes(let bytes, let length), _): send(bytes[...], length: length)
        case (.endless(let length), _):
            send([], length: length)
            // A JSON document that never comes to its end.
            let block = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
            while case let count = connection.send(block[...]), count > 0 { sent += count }
        case (_, nil):
            status = 404
            send([], length: 0)
        case (.wholeFile, let file?): send(file[...], length: file.count)
        case (.file, let file?), (.cut, let file?):
            if request.isRange { status = 206 }
            let body = file.prefix(min(request.end ?? .max - 1, file.count - 1) + 1).dropFirst(request.start)
            if case .cut(let count) = answer {
                send(body.prefix(count), length: body.count)
            } else {
                send(body, length: body.count)
            }
        }
        return Entry(request: request, status: status, bodyBytes: sent)
    }
}
