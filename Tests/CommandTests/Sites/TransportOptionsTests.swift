import FaultServer
import Testing

/// Transport options of a fetch.
struct TransportOptionsTests {
    let world: World

    init() async throws {
        world = try await World(level: "content")
        try world.write("authority.pem", TestCertificate.certificate)
    }

    @Test func onlyAllowedHostsAreAsked() async throws {
        let server = try FaultServer(world.site)
        try await world.fetch("--allow-domain localhost --allow-domain *.example.com", from: server.url)
            .failed(64, naming: server.base.replacing("localhost", with: "127.0.0.1"), "allowed hosts")
        #expect(server.requests == [])
        try await world.fetch("--allow-domain localhost --allow-domain 127.0.0.1", from: server.url)
            .succeeded()
        try await world.expectLoaded("level")
    }

    @Test(arguments: ["http", "socks5"]) func throughAProxy(scheme: String) async throws {
        let server = try FaultServer(world.site)
        let proxy = try TunnelProxy()
        let site = "http://cdn.test:\(server.port)/"
        try await world.fetch("--proxy \(scheme)://\(proxy.address)", from: site).succeeded()
        #expect(server.packs.count == 1)
        #expect(proxy.requests.count > 1 && proxy.requests.allSatisfy { $0.contains("cdn.test") })
        try await world.expectLoaded("level")
    }

    @Test func withACustomCertificateAuthority() async throws {
        let server = try FaultServer(world.site, secure: true)
        try await world.fetch(from: server.url).failed(69, naming: server.url)
        #expect(server.requests == [])
        try await world.fetch("--ca-file $WORK/authority.pem", from: server.url).succeeded()
        try await world.expectLoaded("level")
    }

    @Test(arguments: [
        ("--allow-domain", "http://example.com", 64 as Int32), ("--allow-domain", "", 64),
        ("--proxy", "proxy:80", 64), ("--ca-file", "/nowhere/at.all", 66), ("--ca-file", "/dev/null", 65),
    ])
    func refusesInvalidOptions(option: String, value: String, code: Int32) async throws {
        try await world.fetch("\(option) \(value)").failed(code)
        #expect(try !world.exists("store"))
    }

    @Test func refusesAPasswordAndDoesNotRepeatIt() async throws {
        let result = try await world.fetch("--proxy http://user:hunter2@localhost:80")
        result.failed(64, naming: "password", "authorization")
        #expect(!result.errorText.contains("hunter2"))
    }
}
