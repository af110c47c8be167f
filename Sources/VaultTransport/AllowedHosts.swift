public import VaultBase

/// The only hosts that may be contacted, by redirects too: names and addresses, or `*.example.com` for all names below
/// a domain but not the domain itself. Ports are ignored.
public struct AllowedHosts: Hashable, Sendable {
    private var names: Set<String> = []
    /// Each begins with a dot.
    private var suffixes: Set<String> = []

    /// - Throws: `.usage` for anything but a host name, an address or `*.DOMAIN`.
    public init(_ patterns: some Sequence<String>) throws(VaultError) {
        for pattern in patterns {
            let isBelow = pattern.hasPrefix("*.")
            guard let host = Self.host(isBelow ? pattern.dropFirst(2) : pattern[...]),
                !(isBelow && Self.isAddress(host))
            else {
                throw VaultError(
                    .usage, "not a host name or address", at: pattern,
                    remedy: "give a name or address without port, or *.DOMAIN for all names below a domain")
            }
            if isBelow { suffixes.insert(".\(host)") } else { names.insert(host) }
        }
    }

    /// Whether a site may be contacted; a site in a folder always may.
    public func allows(_ location: SiteLocation) -> Bool {
        guard case .http(let url) = location.address else { return true }
        return allows(url.host)
    }

    /// - Parameter host: In lower case, as in ``HTTPURL``.
    package func allows(_ host: String) -> Bool {
        names.contains(host) || suffixes.contains { host.hasSuffix($0) && host.utf8.count > $0.utf8.count }
    }

    private static func host(_ text: Substring) -> String? {
        guard let url = HTTPURL("http://\(text)"), url.port == nil, url.path.isEmpty, url.query == nil,
            url.host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }),
            url.host == text.lowercased()
        else { return nil }
        return url.host
    }

    private static func isAddress(_ host: String) -> Bool {
        host.hasPrefix("[") || host.split(separator: ".").last.map { UInt64($0) != nil } ?? false
    }
}

/// A transport that contacts only the allowed hosts, by redirects too.
public struct RestrictedTransport: Transport {
    private let base: any Transport
    private let hosts: AllowedHosts

    public init(_ base: any Transport, to hosts: AllowedHosts) {
        self.base = base
        self.hosts = hosts
    }

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        guard hosts.allows(request.location) else {
            throw VaultError(
                .untrusted, "the host is not allowed", at: request.location.description,
                remedy: "allow that host too, or use a site that needs no other")
        }
        var request = request
        request.allowedHosts = hosts
        return try await base.get(request)
    }
}
