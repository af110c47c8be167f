public import UpdateFramework
import VaultBytes
public import VaultErrors
public import VaultTransport

/// A published site: static files at any host. Nothing that it sends is trusted before it is verified.
public struct Site: Sendable {
    public let location: SiteLocation
    public let transport: any Transport
    /// Measures how fast the host sends metadata, over all its responses.
    private let meter = ThroughputMeter()
    /// When a host that fails is asked for metadata again; nil for never.
    private let retries: RetryPolicy?

    public init(_ location: SiteLocation, transport: any Transport, retries: RetryPolicy? = nil) {
        self.location = location
        self.transport = transport
        self.retries = retries
    }

    /// The location of a target's file: below `targets/`, its digest before its name.
    public func location(of target: TargetRecord, in chain: TrustChain) throws(VaultError) -> SiteLocation {
        let segments = chain.hostedPath(of: target).split(separator: "/", omittingEmptySubsequences: false)
        let path = segments.map { PercentEncoding.encode(String($0)) }.joined(separator: "/")
        return try location.appending("targets/\(path)")
    }
}

extension Site: MetadataSource {
    public func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        let file = try location.appending("metadata/\(name)")
        do {
            return try await transport.bytes(at: file, limit: limit, meter: meter, retries: retries)
        } catch {
            guard error.category == .corrupt else { throw error }
            throw VaultError(
                .untrusted, error.problem, at: error.place, remedy: "use another host and report this one")
        }
    }

    public func place(of name: String) -> String {
        (try? location.appending("metadata/\(name)").description) ?? name
    }
}
