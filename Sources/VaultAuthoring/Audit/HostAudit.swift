import SealedPack
import UpdateFramework
import VaultBase
import VaultSite
public import VaultTransport

/// How a host serves a site. All its bytes may be right, and yet clients download too much, learn of an update late, or miss a new root.
///
/// Few requests suffice: of the timestamp, the snapshot, two files that are not there, and a pack, the largest one. A request that fails
/// gives no finding: the audit of the file itself reports that. Where the metadata can't be verified, its host may be the reason: then
/// only the timestamp and a file that is not there are asked for.
struct HostAudit {
    private let site: Site
    private let host: HostInquiry
    private let chain: TrustChain?
    private let pack: ListedPack?
    private let now: UTCTime
    private let expiryNotice: Int

    /// Nil for a folder.
    ///
    /// - Parameters:
    ///   - chain: nil where the metadata can't be verified.
    ///   - expiryNotice: in days; nil for 14.
    init?(
        of site: Site, _ chain: TrustChain?, listing packs: [ListedPack], now: UTCTime, expiryNotice: Int?
    ) {
        guard site.location.path == nil, let probe = site.transport as? any HostProbe else { return nil }
        (self.site, self.chain, self.now) = (site, chain, now)
        self.expiryNotice = expiryNotice ?? 14
        host = HostInquiry(probe: probe)
        pack = packs.max { $0.pack.length < $1.pack.length }
    }

    func run() async -> (facts: HostFacts, findings: [Finding]) {
        var facts = HostFacts()
        var findings = await metadataFindings()
        var hosts = [site.location]
        if let chain, let pack, let location = try? site.location(of: pack.target, in: chain),
            let found = await host.ask(location)
        {
            if let redirected = found.redirected { findings.append(redirected) }
            hosts.append(found.location)
            findings += lifetime(of: found)
            findings += await RangeAudit(of: pack.pack, at: found.location, by: host).findings()
            let start = ContinuousClock.now
            if let whole = await host.ask(found.location, Self.anyEncoding, bodyUpTo: 4 << 20) {
                facts.bytesPerSecond = Self.rate(of: whole.answer.body.count, in: .now - start)
                findings += compression(of: whole)
            }
        }
        for (index, location) in hosts.enumerated() {
            guard let connection = try? await host.probe.connection(to: location) else { continue }
            if index == 0 { facts.connection = connection }
            guard index == 0 || location.authority != site.location.authority else { continue }
            findings += security(of: connection, to: location)
        }
        return (facts, findings)
    }

    private func metadataFindings() async -> [Finding] {
        var findings: [Finding] = []
        if let found = await reply(for: "metadata/timestamp.json") {
            if let redirected = found.redirected { findings.append(redirected) }
            findings += lateness(of: found.answer, at: found.place)
            if let encoding = found.answer.encoding { findings.append(.encoded(encoding, at: found.place)) }
        }
        if let found = await reply(for: "targets/packs/\(Self.absent)") {
            findings += absence(as: found.answer, at: found.place)
        }
        guard let chain else { return findings }
        let snapshot = "metadata/\(MetadataRole.snapshot.hostedName(version: chain.snapshot.version))"
        if let found = await reply(for: snapshot) { findings += lifetime(of: found) }
        if let found = await reply(for: snapshot, Self.anyEncoding) { findings += compression(of: found) }
        let next = "metadata/\(MetadataRole.root.hostedName(version: chain.root.version + 1))"
        if let found = await reply(for: next) { findings += absence(as: found.answer, at: found.place) }
        return findings
    }

    /// Nobody has a pack of this digest.
    private static let absent = String(repeating: "0", count: 64) + ".missing.avpack"
    private static let anyEncoding = ["Accept-Encoding": "gzip, br, zstd"]
    private static let day = 86_400

    private func reply(for name: String, _ headers: [String: String] = [:]) async -> HostInquiry.Reply? {
        guard let location = try? site.location.appending(name) else { return nil }
        return await host.ask(location, headers)
    }

    private static func rate(of bytes: Int, in time: Duration) -> UInt64? {
        let seconds = time / .seconds(1)
        return bytes > 0 && seconds > 0 ? UInt64(Double(bytes) / seconds) : nil
    }

    private func lateness(of timestamp: HostAnswer, at place: String) -> [Finding] {
        guard timestamp.status == 200 else { return [] }
        let wait = max(timestamp.freshness ?? 0, timestamp.age)
        guard wait > 0 || timestamp.freshness == nil else { return [] }
        let problem =
            wait > 0
            ? "caches keep it for \(wait) seconds, so that clients learn of an update that late"
            : "nothing says how long caches may keep it, so that clients may learn of an update late"
        return [
            Finding(
                wait > 3_600 ? .error(.unavailable) : .warning, "cached-timestamp", problem, at: place,
                remedy: "let the host send it with 'Cache-Control: no-store'")
        ]
    }

    private func lifetime(of found: HostInquiry.Reply) -> [Finding] {
        let answer = found.answer
        guard answer.status == 200, answer.freshness.map({ $0 < Self.day }) ?? true else { return [] }
        return [
            Finding(
                .note, "uncached-file", "caches may not keep it for a day, although it never changes",
                at: found.place,
                remedy: "let numbered metadata and packs have 'Cache-Control: max-age=31536000'")
        ]
    }

    /// Of an answer to a request that accepts encodings, as those of other programs do.
    private func compression(of found: HostInquiry.Reply) -> [Finding] {
        guard let encoding = found.answer.encoding else { return [] }
        return [
            .warning(
                "compressed",
                "the host encodes it (\(encoding.excerpt)) for who accepts that: clients refuse this form if a cache gives it to them,"
                    + " and packs get no smaller", at: found.place,
                remedy: "turn off compression for the site")
        ]
    }

    private func security(of connection: HostConnection, to location: SiteLocation) -> [Finding] {
        let place = location.authority ?? location.description
        var findings: [Finding] = []
        if let end = connection.certificateEnd.flatMap({ UTCTime(secondsSince1970: $0) }),
            end <= now.adding(days: expiryNotice)
        {
            findings.append(
                .warning(
                    "certificate-expires",
                    "its certificate expires at \(end): from then on clients can't connect",
                    at: place, remedy: "renew it, and check why that was not done by itself"))
        }
        if let tls = connection.tls, tls != "TLS 1.3" {
            findings.append(
                Finding(
                    .note, "old-tls",
                    "it speaks \(tls): each new connection takes a round trip more than with TLS 1.3",
                    at: place, remedy: "turn on TLS 1.3"))
        }
        return findings
    }

    private func absence(as answer: HostAnswer, at place: String) -> [Finding] {
        switch answer.status {
        case 403, 404, 410:
            let wait = max(answer.freshness ?? 0, answer.age)
            guard wait > 0 else { return [] }
            return [
                Finding(
                    wait > 3_600 ? .error(.unavailable) : .warning, "cached-absence",
                    "caches keep the answer that it is missing for \(wait) seconds, so that clients find a new file that late",
                    at: place, remedy: "let the host send 404 with 'Cache-Control: no-store'")
            ]
        case 200..<300:
            return [
                Finding(
                    .error(.unavailable), "found-what-is-missing",
                    "the host answers with status \(answer.status) for a file that is not there, such as with a page of an app",
                    at: place, remedy: "let the host answer with 404 for what is missing")
            ]
        default: return []
        }
    }
}

extension Finding {
    static func encoded(_ encoding: String, at place: String) -> Finding {
        Finding(
            .error(.unavailable), "encoded",
            "the host encodes it (\(encoding.excerpt)), although only identity was accepted: clients refuse all of it",
            at: place, remedy: "turn off compression for the site")
    }
}

/// How a host can be reached.
public struct HostFacts: Sendable {
    public internal(set) var connection = HostConnection()
    /// While the beginning of the largest pack was read; nil where that failed.
    public internal(set) var bytesPerSecond: UInt64?
}

/// Asks a host as clients do: redirects are followed.
struct HostInquiry: Sendable {
    let probe: any HostProbe
    /// As many as clients follow.
    private static let redirects = 5

    struct Reply {
        /// What was asked for.
        let asked: SiteLocation
        /// Where the answer is from.
        let location: SiteLocation
        let answer: HostAnswer

        var place: String { asked.description }

        /// Nil without redirects.
        var redirected: Finding? {
            if (300..<400).contains(answer.status), answer.status != 304 {
                return .warning(
                    "redirected",
                    "the host redirects to a URL that is not examined, such as one with a signature in its query",
                    at: place, remedy: "audit the host that it redirects to")
            }
            guard location != asked else { return nil }
            let host =
                location.authority.map { "; clients with a list of allowed hosts need '\($0)' in it" } ?? ""
            return Finding(
                .note, "redirected",
                "the host redirects to \(location.description.excerpt), which costs each request a second one"
                    + (location.authority == asked.authority ? "" : host), at: place,
                remedy: "let clients use that URL")
        }
    }

    /// Nil where a request fails.
    func ask(
        _ location: SiteLocation, _ headers: [String: String] = [:], bodyUpTo limit: Int = 0
    ) async -> Reply? {
        var next = location
        for _ in 0...Self.redirects {
            guard let answer = try? await probe.ask(next, headers: headers, bodyUpTo: limit) else {
                return nil
            }
            guard let target = answer.redirect else {
                return Reply(asked: location, location: next, answer: answer)
            }
            next = target
        }
        return nil
    }
}

extension SiteLocation {
    /// Host and port; nil for a folder.
    fileprivate var authority: String? { if case .http(let url) = address { url.authority } else { nil } }
}
