import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import VaultBase
import VaultFileSystem
import VaultTransport

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
            return .outOfRange(total: http.only("Content-Range").flatMap(ContentRange.total(ofUnsatisfied:)))
        case 429, 503:
            return .busy(status: Int(http.status.code), retryAfter: http.requestedWait)
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
        return try TransportBody(for: request, length: length) {
            HTTPBodyChunks(body, through: transport, meter: meter, after: wait, place: place)
        }
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
            let range = http.only("Content-Range").flatMap(ContentRange.init(headerValue:)),
            range.matches(requested), declaredLength ?? range.length == range.length
        else {
            throw failure(
                "the host sent another part of the file than was requested",
                remedy: "configure the host to answer Range requests as in RFC 9110")
        }
        return range
    }

    private var declaredLength: UInt64? {
        http.only("Content-Length").flatMap { UInt64($0) }
    }

    private func failure(_ problem: String, remedy: String) -> VaultError {
        VaultError(.unavailable, problem, at: request.location.description, remedy: remedy)
    }
}

extension HTTPClientResponse {
    /// The value of a header that must not be repeated.
    func only(_ name: String) -> String? {
        let values = headers[name]
        return values.count == 1 ? values[0] : nil
    }

    /// The wait that a busy host requests; nil for none.
    var requestedWait: Duration? {
        only("Retry-After").flatMap { RetryAfter.wait($0, date: only("Date")) }
    }
}

/// A date in one of the three forms of RFC 9110, section 5.6.7, as seconds since 1970-01-01 UTC.
struct HTTPDate: Hashable {
    let secondsSince1970: Int64

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`; the day
    /// of the week is not checked.
    init?(_ text: String, currentYear: Int) {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split { $0 == " " || $0 == "-" }
        guard (5...6).contains(words.count) else { return nil }
        let isAsctime = words.count == 5 && !words[0].hasSuffix(",")
        guard isAsctime || words.count == 6 && words[0].hasSuffix(",") && words[5] == "GMT",
            let month = Self.months.firstIndex(of: String(words[isAsctime ? 1 : 2])),
            let day = Self.number(words[isAsctime ? 2 : 1]), (1...31).contains(day),
            let seconds = Self.secondsOfDay(words[isAsctime ? 3 : 4]),
            let year = Self.year(words[isAsctime ? 4 : 3], currentYear: currentYear)
        else { return nil }
        secondsSince1970 = Self.days(year: year, month: month + 1, day: day) * 86400 + seconds
    }

    init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    var year: Int { 1970 + Int(secondsSince1970 / 31_556_952) }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func secondsOfDay(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).compactMap(number)
        // 60 is a leap second.
        guard parts.count == 3, parts[0] < 24, parts[1] < 60, parts[2] <= 60 else { return nil }
        return Int64(parts[0] * 3600 + parts[1] * 60 + parts[2])
    }

    /// A year of two digits is the last one with these digits that is at most 50 years ahead.
    private static func year(_ text: Substring, currentYear: Int) -> Int? {
        guard let number = number(text) else { return nil }
        guard text.utf8.count == 2 else { return text.utf8.count == 4 ? number : nil }
        let year = currentYear / 100 * 100 + number
        return year > currentYear + 50 ? year - 100 : year
    }

    /// Days since 1970-01-01 in the Gregorian calendar; years are counted from March.
    private static func days(year: Int, month: Int, day: Int) -> Int64 {
        let shifted = Int64(month > 2 ? year : year - 1)
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    /// At most four digits.
    private static func number(_ text: Substring) -> Int? {
        (1...4).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            ? Int(text) : nil
    }
}

/// The wait that a busy host requests (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Parses the header's value: seconds, or a date, which is compared with `date`, the host's own clock, since this
    /// machine's may be wrong. Nil for anything else.
    static func wait(_ value: String, date: String?) -> Duration? {
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(UInt32(value) ?? .max)
        }
        let clock = HTTPDate(secondsSince1970: WallClock.secondsSince1970)
        guard let moment = HTTPDate(value, currentYear: clock.year) else { return nil }
        let now = date.flatMap { HTTPDate($0, currentYear: clock.year) } ?? clock
        return .seconds(max(0, moment.secondsSince1970 - now.secondsSince1970))
    }
}

/// Ends a connection whose host answers with a status below 100, which RFC 9110, section 15, does not have. AsyncHTTPClient
/// (1.37) takes such a head for an informational one without a body, and stops the program when a body follows.
final class ResponseStatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The host sent this as its status.
    struct InvalidStatus: Error {
        let code: UInt
    }

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
            isRefused = true
            context.fireErrorCaught(InvalidStatus(code: head.status.code))
            context.close(promise: nil)
        }
        if !isRefused { context.fireChannelRead(data) }
    }
}
