import FaultServer
import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

extension TransportLimits {
    /// Short enough for a test, long enough for a busy machine.
    static var testing: TransportLimits {
        var limits = TransportLimits()
        limits.connect = .seconds(5)
        limits.response = .seconds(20)
        limits.idle = .seconds(20)
        return limits
    }
}

extension TransportRequest {
    init(_ location: SiteLocation, range: ByteRange? = nil) {
        self.init(location, range: range, limit: 1 << 20)
    }
}

extension TransportResponse {
    /// The body of a whole file; else the test fails.
    var whole: TransportBody {
        get throws {
            guard case .whole(let body) = self else { throw Unexpected(response: "\(self)") }
            return body
        }
    }

    var part: (range: ContentRange, body: TransportBody) {
        get throws {
            guard case .part(let range, let body) = self else { throw Unexpected(response: "\(self)") }
            return (range, body)
        }
    }
}

struct Unexpected: Error { let response: String }

extension TransportBody {
    /// All bytes of the body.
    func collected() async throws(VaultError) -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in self {
            #expect(!chunk.isEmpty)
            bytes += chunk
        }
        return bytes
    }
}

/// The error that `body` ends with.
func failure(_ body: () async throws -> Void) async -> VaultError? {
    await #expect(throws: VaultError.self) { try await body() }
}

/// Sends one request with a new transport, and reads the whole response.
func fetch(
    _ request: TransportRequest, limits: TransportLimits = .testing, allowedHosts: AllowedHosts? = nil,
    proxy: HTTPProxy? = nil, certificateAuthorities: CertificateAuthorities? = nil
) async throws -> [UInt8] {
    let transport = HTTPTransport(
        limits: limits, allowedHosts: allowedHosts, proxy: proxy,
        certificateAuthorities: certificateAuthorities)
    switch try await transport.get(request) {
    case .whole(let body): return try await body.collected()
    case .part(_, let body): return try await body.collected()
    case .absent, .outOfRange, .busy: throw Unexpected(response: "no body")
    }
}

/// A temporary folder for one test.
func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "transport-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// The certificate authority of the test servers, read from a file.
func withAuthority(_ body: (CertificateAuthorities) async throws -> Void) async throws {
    try await withFolder { folder in
        let file = folder.appending(path: "authority.pem")
        try Data(TestCertificate.certificate.utf8).write(to: file)
        try await body(CertificateAuthorities(pem: FilePath(file.path)))
    }
}
