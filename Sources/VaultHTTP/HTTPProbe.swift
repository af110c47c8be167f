import AsyncHTTPClient
import NIOHTTP1
public import VaultBase
public import VaultTransport

extension HTTPTransport: HostProbe {
    public func ask(
        _ location: SiteLocation, headers: [String: String], bodyUpTo limit: Int
    ) async throws(VaultError) -> HostAnswer {
        guard case .http(let url) = location.address else {
            throw VaultError(
                .usage, "a folder is no host", at: location.description, remedy: "name an http or https URL")
        }
        let start = ContinuousClock.now
        let response = try await send(HTTPHeaders(Array(headers)), to: url, for: location)
        var chunks = HTTPBodyChunks(
            response.body, through: self, meter: ThroughputMeter(), after: .now - start,
            place: location.description)
        var body: [UInt8] = []
        while body.count < limit, let chunk = try await chunks.next() { body += chunk }
        return HostAnswer(
            status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
            body: Array(body.prefix(limit)))
    }
}

extension SchemeTransport: HostProbe {
    public func ask(
        _ location: SiteLocation, headers: [String: String], bodyUpTo limit: Int
    ) async throws(VaultError) -> HostAnswer {
        try await http.ask(location, headers: headers, bodyUpTo: limit)
    }
}
