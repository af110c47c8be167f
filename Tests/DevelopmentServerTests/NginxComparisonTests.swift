import Foundation
import TestFiles
import Testing

/// Compares our server with nginx: both get the same requests for the same files.
@Suite struct NginxComparisonTests {
    /// The fields to compare: the status, and for a success the body and the headers that describe it.
    private struct ComparedFields: Equatable, CustomStringConvertible {
        var status: Int
        var contentRange: String?
        var contentLength: String?
        var acceptsRanges: Bool
        var body: [UInt8]

        init(_ reply: Reply) {
            status = reply.status
            contentRange = reply.headers["content-range"]
            let isSuccess = (200..<300).contains(status)
            // Error pages may differ.
            contentLength = isSuccess ? reply.headers["content-length"] : nil
            acceptsRanges = status != 200 || reply.headers["accept-ranges"] == "bytes"
            body = isSuccess ? reply.body : []
        }

        var description: String {
            "\(status) range=\(contentRange ?? "-") length=\(contentLength ?? "-") body=\(body.count) bytes"
        }
    }

    private static let ranges = [
        "bytes=0-9", "bytes=10-499", "bytes=0-0", "bytes=999-999", "bytes=0-999", "bytes=0-998", "bytes=1-",
        "bytes=0-", "bytes=999-", "bytes=-1", "bytes=-10", "bytes=-999", "bytes=-1000", "bytes=-1001",
        "bytes=-0", "bytes=999-5000", "bytes=0-1000", "bytes=1000-", "bytes=1000-1000", "bytes=5000-6000",
        "bytes=5-2", "bytes=1-0", "bytes=", "bytes=-", "bytes=--5", "bytes=-5-", "bytes=1-2-3", "bytes=abc",
        "bytes=0x1-5", "bytes=0-9x", "bytes=+1-5", "bytes=1-+5", "bytes=1.5-9", "bytes", "bytes 0-9",
        "bits=0-9",
        "Bytes=0-9", "BYTES=0-9", "bytes= 0-9", "bytes=0 - 9", "bytes=- 5", "bytes= -5", "bytes=5 -",
        "bytes=,0-9", "bytes=0-9,", "bytes=0-1,2000-3000", "bytes=2000-,0-1", "bytes=2000-,3000-",
        "bytes=0-9,abc",
        "bytes=0-999,0-999", "bytes=9223372036854775807-", "bytes=9223372036854775808-",
        "bytes=0-9223372036854775806", "bytes=0-9223372036854775807", "bytes=0-9223372036854775808",
        "bytes=0-99999999999999999999", "bytes=-9223372036854775807", "bytes=-99999999999999999999",
        "bytes=00-09", "bytes=0-9;x=1", "none", "x",
    ]

    private static let targets = [
        "/file.bin", "/empty.bin", "/one.bin", "/folder/inner.json", "/f%69le.bin",
        "/odd%20name%2B%C3%A9.txt",
        "/odd+name.txt", "/file.bin?version=2", "/missing", "/folder/missing", "/file.bin/", "/file.bin/x",
        "/FILE.BIN", "/file.bin%20",
    ]

    @Test func respondsAsNginxDoes() async throws {
        try await withFolder { root in
            try Self.fill(root)
            let cases =
                Self.targets.map { ($0, "GET", []) } + Self.targets.map { ($0, "HEAD", []) } + Self.rangeCases
            let ours = try await withServer(root) { port in try await Self.results(cases, from: port) }
            let nginx = try await Nginx.run(over: root.path) {
                try await Self.results(cases, from: Int($0.port))
            }
            for (request, (ours, nginx)) in zip(cases, zip(ours, nginx)) {
                #expect(ours == nginx, "\(request)")
            }
            // The cases include successes and failures.
            #expect(nginx.contains { $0.status == 206 } && nginx.contains { $0.status == 416 })
        }
    }

    /// Compares conditional requests, with each server's own entity tag.
    @Test func conditionalRequestsMatchNginx() async throws {
        try await withFolder { root in
            try Self.fill(root)
            let ours = try await withServer(root) { port in try await Self.conditionalAnswers(from: port) }
            let nginx = try await Nginx.run(over: root.path) {
                try await Self.conditionalAnswers(from: Int($0.port))
            }
            for (ours, nginx) in zip(ours, nginx) {
                #expect(ours.result == nginx.result, "\(ours.condition)")
            }
            #expect(Set(nginx.map(\.result.status)) == [200, 206, 304, 412, 416])
        }
    }

    private static var rangeCases: [(String, String, [(String, String)])] {
        ranges.flatMap { range in
            [("/file.bin", "GET"), ("/file.bin", "HEAD"), ("/empty.bin", "GET"), ("/one.bin", "GET")].map {
                ($0, $1, [("Range", range)])
            }
        }
    }

    private static func fill(_ root: URL) throws {
        try FileManager.default.createDirectory(
            at: root.appending(path: "folder"), withIntermediateDirectories: true)
        let thousand = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 3) })
        for (name, content) in [
            ("file.bin", thousand), ("empty.bin", Data()), ("one.bin", Data([7])),
            ("folder/inner.json", Data("{}".utf8)),
            ("odd name+é.txt", Data("odd".utf8)), ("odd+name.txt", Data("plus".utf8)),
        ] { try content.write(to: root.appending(path: name)) }
    }

    private static func results(
        _ cases: [(String, String, [(String, String)])], from port: Int
    ) async throws -> [ComparedFields] {
        var results: [ComparedFields] = []
        for (target, method, headers) in cases {
            results.append(ComparedFields(try await ask(port, target, method: method, headers)))
        }
        return results
    }

    private static func conditionalAnswers(from port: Int) async throws -> [(
        condition: String, result: ComparedFields
    )] {
        let tag = try #require(try await ask(port, "/file.bin").headers["etag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""), "not a strong tag: \(tag)")
        let values = [
            tag, "W/\(tag)", "\"other\"", "*", "\"other\", \(tag)", "\"a\",W/\(tag) , \"b\"",
            String(tag.dropLast()),
        ]
        var results: [(condition: String, result: ComparedFields)] = []
        for name in ["If-Range", "If-Match", "If-None-Match"] {
            for (index, value) in values.enumerated() {
                for range in [nil, "bytes=0-9", "bytes=5000-"] {
                    let headers = [(name, value)] + (range.map { [("Range", $0)] } ?? [])
                    for method in ["GET", "HEAD"] {
                        let reply = try await ask(port, "/file.bin", method: method, headers)
                        results.append(
                            ("\(method) \(name) value \(index) \(range ?? "-")", ComparedFields(reply)))
                    }
                }
            }
        }
        return results
    }
}
