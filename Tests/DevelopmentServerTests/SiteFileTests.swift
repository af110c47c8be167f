import DevelopmentServer
import Foundation
import SystemPackage
import Testing
import VaultBase

@Suite struct SiteFileTests {
    private static let digest = String(repeating: "0123456789abcdef", count: 4)

    @Test(arguments: [
        "/", "/folder", "/folder/", "/.hidden", "/.git/config", "/folder/.hidden", "/link.bin",
        "/inside-link.bin",
        "/linked/secret.bin", "/../secret.bin", "/folder/../../secret.bin", "/folder/../file.bin",
        "/./file.bin",
        "//file.bin", "/folder//inner.bin", "/%2e%2e/secret.bin", "/folder/%2e%2e/%2E%2E/secret.bin",
        "/..%2fsecret.bin", "/folder%2finner.bin", "/file.bin%00", "/file.bin%00.json", "/file.bin%",
        "/file.bin%4",
        "/file.bin%zz", "/..\\secret.bin", "/pipe", "file.bin", "*", "/%FF",
    ])
    func unsafeOrHiddenPathIsNotFound(target: String) async throws {
        try await withSite { port, _ in
            let reply = try await ask(port, target)
            #expect(reply.status == 404 || reply.status == 400)
            #expect(!reply.body.starts(with: Array("secret".utf8)))
            if target.hasPrefix("/") { #expect(reply.status == 404) }
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
    func onlyGetAndHeadAreAllowed(method: String) async throws {
        try await withSite { port, _ in
            let reply = try await ask(port, "/file.bin", method: method)
            #expect(reply.status == 405)
            #expect(reply.headers["allow"] == "GET, HEAD")
        }
    }

    @Test func setsContentTypeAndCacheControl() async throws {
        try await withSite { port, root in
            for (target, type, cache) in [
                ("/file.bin", "application/octet-stream", "no-cache"),
                ("/cafe.avpack", "application/octet-stream", "no-cache"),
                ("/timestamp.json", "application/json", "no-cache"),
                ("/12.json", "application/json", "no-cache"),
                ("/12.snapshot.json", "application/json", "public, max-age=31536000, immutable"),
                (
                    "/\(Self.digest).level.avpack", "application/octet-stream",
                    "public, max-age=31536000, immutable"
                ),
                ("/\(Self.digest.uppercased()).level.avpack", "application/octet-stream", "no-cache"),
            ] {
                let name = String(target.dropFirst())
                if name != "file.bin" { try Data("x".utf8).write(to: root.appending(path: name)) }
                let reply = try await ask(port, target)
                #expect(reply.status == 200)
                #expect(reply.headers["content-type"] == type, "\(target)")
                #expect(reply.headers["cache-control"] == cache, "\(target)")
            }
        }
    }

    @Test func entityTagChangesWithTheFile() async throws {
        try await withSite { port, root in
            let before = try await ask(port, "/file.bin").headers["etag"]
            #expect(try await ask(port, "/file.bin").headers["etag"] == before)
            // Same size, another file.
            try Data("FILE".utf8).write(to: root.appending(path: "file.bin"), options: .atomic)
            #expect(try await ask(port, "/file.bin").headers["etag"] != before)
        }
    }

    @Test func severalRangesGetTheWholeFile() async throws {
        try await withSite { port, _ in
            let reply = try await ask(port, "/file.bin", [("Range", "bytes=0-0,2-3")])
            #expect(reply.status == 200)
            #expect(reply.body == Array("file".utf8))
        }
    }

    private func withSite(_ body: @escaping @Sendable (Int, URL) async throws -> Void) async throws {
        try await withFolder { folder in
            let root = folder.appending(path: "site")
            let files = FileManager.default
            for name in ["folder", ".git"] {
                try files.createDirectory(at: root.appending(path: name), withIntermediateDirectories: true)
            }
            try Data("secret".utf8).write(to: folder.appending(path: "secret.bin"))
            for name in ["file.bin", "folder/inner.bin", ".hidden", "folder/.hidden", ".git/config"] {
                try Data("file".utf8).write(to: root.appending(path: name))
            }
            for (name, target) in [
                ("link.bin", "../secret.bin"), ("inside-link.bin", "file.bin"), ("linked", ".."),
            ] {
                try files.createSymbolicLink(
                    atPath: root.appending(path: name).path, withDestinationPath: target)
            }
            #expect(unsafe mkfifo(root.appending(path: "pipe").path, 0o644) == 0)
            try await withServer(root) { port in try await body(port, root) }
        }
    }
}
