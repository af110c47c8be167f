import FaultServer
import Foundation
import Testing

/// Transport options of a fetch.
struct TransportOptionsTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "content")
        try folder.write("authority.pem", TestCertificate.certificate)
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func expectLoaded() async throws {
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    @Test func onlyAllowedHostsAreAsked() async throws {
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--allow-domain", "localhost", "--allow-domain", "*.example.com")
            .failed(64, naming: server.base.replacing("localhost", with: "127.0.0.1"), "allowed hosts")
        #expect(server.requests == [])
        try await testSite.fetch(server.url, "--allow-domain", "localhost", "--allow-domain", "127.0.0.1")
            .succeeded()
        try await expectLoaded()
    }

    @Test(arguments: ["http", "socks5"]) func throughAProxy(scheme: String) async throws {
        let server = try FaultServer(testSite.site)
        let proxy = try TunnelProxy()
        let site = "http://cdn.test:\(server.port)/"
        try await testSite.fetch(site, "--proxy", "\(scheme)://\(proxy.address)").succeeded()
        #expect(server.packs.count == 1)
        #expect(proxy.requests.count > 1 && proxy.requests.allSatisfy { $0.contains("cdn.test") })
        try await expectLoaded()
    }

    @Test func withACustomCertificateAuthority() async throws {
        let server = try FaultServer(testSite.site, secure: true)
        try await testSite.fetch(server.url).failed(69, naming: server.url)
        #expect(server.requests == [])
        try await testSite.fetch(server.url, "--ca-file", folder["authority.pem"]).succeeded()
        try await expectLoaded()
    }

    @Test(arguments: [
        ("--allow-domain", "http://example.com", 64 as Int32), ("--allow-domain", "", 64),
        ("--proxy", "proxy:80", 64), ("--ca-file", "/nowhere/at.all", 66), ("--ca-file", "/dev/null", 65),
    ])
    func refusesInvalidOptions(option: String, value: String, code: Int32) async throws {
        try await testSite.fetch(nil, option, value).failed(code)
        #expect(try !folder.exists("store"))
    }

    @Test func refusesAPasswordAndDoesNotRepeatIt() async throws {
        let result = try await testSite.fetch(nil, "--proxy", "http://user:hunter2@localhost:80")
        result.failed(64, naming: "password", "authorization")
        #expect(!result.errorText.contains("hunter2"))
    }
}
