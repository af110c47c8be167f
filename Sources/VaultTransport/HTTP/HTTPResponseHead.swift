import AsyncHTTPClient
import NIOHTTP1
import VaultErrors

/// The head of a response, validated against the request.
struct HTTPResponseHead {
    private let http: HTTPClientResponse
    private let request: TransportRequest
    private let transport: HTTPTransport
    /// How long it took to arrive.
    private let wait: Duration

    init(
        _ http: HTTPClientResponse, to request: TransportRequest, through transport: HTTPTransport,
        after wait: Duration
    ) {
        (self.http, self.request, self.transport, self.wait) = (http, request, transport, wait)
    }

    func response() throws(VaultError) -> TransportResponse {
        switch http.status.code {
        case 200:
            try requireIdentity()
            return .whole(try body(length: declaredLength))
        case 206:
            try requireIdentity()
            let range = try validatedRange()
            return .part(range, try body(length: range.length))
        case 403, 404, 410: return .absent
        case 416 where request.range != nil:
            return .outOfRange(total: only("Content-Range").flatMap(ContentRange.total(ofUnsatisfied:)))
        case 429, 503:
            return .busy(
                retryAfter: only("Retry-After").flatMap { RetryAfter.wait($0, date: only("Date")) })
        case 500...599:
            throw failure("the host is failing (status \(http.status.code))", remedy: "try again later")
        case 401, 407:
            throw failure(
                "the host requires a login (status \(http.status.code))",
                remedy: "use a host that serves the site without a login")
        default:
            throw failure("unexpected status \(http.status.code)", remedy: "check the URL and the host")
        }
    }

    private func body(length: UInt64?) throws(VaultError) -> TransportBody {
        let (body, transport, meter, wait) = (http.body, transport, request.meter, wait)
        let place = request.location.description
        return try TransportBody(
            for: request, length: length, entityTag: only("ETag").flatMap(EntityTag.init)
        ) { HTTPBodyChunks(body, through: transport, meter: meter, after: wait, place: place) }
    }

    /// Sizes, ranges and digests are those of the unencoded file.
    private func requireIdentity() throws(VaultError) {
        let contentCodings = http.headers[canonicalForm: "Content-Encoding"]
        let transferCodings = http.headers[canonicalForm: "Transfer-Encoding"]
        guard contentCodings.allSatisfy({ $0.isEmpty || $0.lowercased() == "identity" }),
            transferCodings.allSatisfy({ $0.lowercased() == "chunked" })
        else {
            throw failure(
                "the host sent the file compressed or encoded, although only identity was accepted",
                remedy: "turn off compression for the site at the host")
        }
    }

    private func validatedRange() throws(VaultError) -> ContentRange {
        guard let requested = request.range,
            let range = only("Content-Range").flatMap(ContentRange.init(headerValue:)),
            range.matches(requested), declaredLength ?? range.length == range.length
        else {
            throw failure(
                "the host sent another part of the file than was requested",
                remedy: "configure the host to answer Range requests as in RFC 9110")
        }
        return range
    }

    private var declaredLength: UInt64? {
        only("Content-Length").flatMap { UInt64($0) }
    }

    /// The value of a header that must not be repeated.
    private func only(_ name: String) -> String? {
        let values = http.headers[name]
        return values.count == 1 ? values[0] : nil
    }

    private func failure(_ problem: String, remedy: String) -> VaultError {
        VaultError(.unavailable, problem, at: request.location.description, remedy: remedy)
    }
}
