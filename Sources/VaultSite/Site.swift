public import UpdateFramework
public import VaultBase
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
        try location(ofTarget: chain.hostedPath(of: target))
    }

    /// The location of a file below `targets/`.
    public func location(ofTarget hostedPath: String) throws(VaultError) -> SiteLocation {
        let segments = hostedPath.split(separator: "/", omittingEmptySubsequences: false)
        let path = segments.map { PercentEncoding.encode(String($0)) }.joined(separator: "/")
        return try location.appending("targets/\(path)")
    }
}

extension Site: MetadataSource {
    public func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        let file = try location.appending("metadata/\(name)")
        do {
            let bytes = try await transport.bytes(at: file, limit: limit, meter: meter, retries: retries)
            if let bytes, location.path == nil { try Self.requireNoPage(bytes, at: file) }
            return bytes
        } catch {
            // Without a connection no file is to blame.
            if error.category == .unreachable { throw error.with(at: location.description) }
            guard error.category == .corrupt else { throw error }
            throw VaultError(
                .untrusted, error.problem, at: error.place, remedy: "use another host and report this one",
                code: "oversized-metadata")
        }
    }

    /// A login page of the network, or a host that answers every request with the page of its app: its answer says nothing of the site.
    private static func requireNoPage(_ bytes: [UInt8], at location: SiteLocation) throws(VaultError) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        guard text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "<") else {
            return
        }
        throw VaultError(
            .unavailable, "the host sent a web page instead of the file, or of the status 404",
            at: location.description,
            remedy:
                "log in if the network asks for it; else have the host answer 404 for what it does not have")
    }

    public func place(of name: String) -> String {
        (try? location.appending("metadata/\(name)").description) ?? name
    }
}
