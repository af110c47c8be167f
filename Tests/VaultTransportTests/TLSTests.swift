import FaultServer
import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultTransport

@testable import VaultHTTP

/// The certificates and TLS versions that a client accepts.
@Suite struct TLSTests {
    private static let response: [Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")]

    private func fetch(_ url: String, trusting certificate: String) async throws -> [UInt8] {
        try await withFolder { folder in
            let file = folder.appending(path: "authority.pem")
            try Data(certificate.utf8).write(to: file)
            return try await VaultTransportTests.fetch(
                TransportRequest(SiteLocation(url)),
                certificateAuthorities: CertificateAuthorities(pem: FilePath(file.path)))
        }
    }

    /// TLS 1.0 and 1.1 are insecure (RFC 8996).
    @Test func refusesOldTLSVersions() async throws {
        let server = try FaultServer(secure: true, flaw: .oldVersion) { _ in Self.response }
        let error = await failure {
            _ = try await fetch(server.base + "/file", trusting: TestCertificate.certificate)
        }
        #expect(error?.category == .unavailable)
        #expect(error?.problem.hasPrefix("no secure connection") == true, "\(String(describing: error))")
        #expect(server.requests.isEmpty)
        let modern = try FaultServer(secure: true) { _ in Self.response }
        let bytes = try await fetch(modern.base + "/file", trusting: TestCertificate.certificate)
        #expect(bytes == Array("secret".utf8))
    }

    /// A host needs a certificate for its name: with one for an address, an attacker who redirects the name to his own
    /// address could impersonate it.
    @Test func refusesAnAddressCertificateForAName() async throws {
        let server = try FaultServer(secure: true, flaw: .namesOnlyItsAddress) { _ in Self.response }
        let error = await failure {
            _ = try await fetch(server.base + "/file", trusting: TestCertificate.addressCertificate)
        }
        #expect(error?.category == .unavailable)
        #expect(error?.problem.hasPrefix("no secure connection") == true, "\(String(describing: error))")
        #expect(server.requests.isEmpty)
        // A request to the address succeeds.
        let bytes = try await fetch(server.url + "file", trusting: TestCertificate.addressCertificate)
        #expect(bytes == Array("secret".utf8))
    }

    @Test(arguments: [
        ("cdn.example.com", "cdn.example.com", true), ("CDN.example.com.", "cdn.example.com", true),
        ("*.example.com", "cdn.example.com", true), ("*.example.com", "example.com", false),
        ("*.example.com", "a.cdn.example.com", false), ("*.com", "example.com", false), ("*", "com", false),
        ("c*.example.com", "cdn.example.com", false), ("example.com", "cdn.example.com", false),
        ("cdn.example.com", "", false),
    ])
    func matchesHostNames(_ pattern: String, _ host: String, _ isMatch: Bool) {
        #expect(HostCertificate.matches(pattern, host) == isMatch)
    }

    /// A certificate for both is valid for each.
    @Test func acceptsACertificateForNameAndAddress() async throws {
        let server = try FaultServer(secure: true) { _ in Self.response }
        for url in [server.base + "/file", server.url + "file", server.base.uppercased() + "/file"] {
            #expect(
                try await fetch(url, trusting: TestCertificate.certificate) == Array("secret".utf8), "\(url)")
        }
    }
}
