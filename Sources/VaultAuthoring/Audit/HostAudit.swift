import SealedPack
import UpdateFramework
public import VaultBase
import VaultSite
public import VaultTransport

/// How a host serves a site. All its bytes may be right, and yet clients download too much, learn of an update late, or miss a new root.
public struct HostReport: Sendable {
    public internal(set) var connection = HostConnection()
    /// While the beginning of the largest pack was read; nil where that failed.
    public internal(set) var bytesPerSecond: UInt64?
    public internal(set) var findings: [Finding] = []
}

/// Examines a host by few requests: of the timestamp, the snapshot, two files that are not there, and parts of the largest pack. A
/// request that fails gives no finding: the audit of the file itself reports that. Where the metadata can't be verified, its host may be
/// the reason: then only the timestamp and a file that is not there are asked for.
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

    func run() async -> HostReport {
        var report = HostReport()
        for (file, headers, checks) in probes {
            guard let location = try? site.location.appending(file),
                let reply = await host.ask(location, headers)
            else { continue }
            report.findings += checks.flatMap { $0(reply) }
        }
        var hosts = [site.location]
        if let chain, let pack, let location = try? site.location(of: pack.target, in: chain) {
            let start = ContinuousClock.now
            if let whole = await host.ask(location, Self.anyEncoding, bodyUpTo: 4 << 20) {
                report.bytesPerSecond = Self.rate(of: whole.answer.body.count, in: .now - start)
                hosts.append(whole.location)
                report.findings += redirection(of: whole) + lifetime(of: whole) + compression(of: whole)
                report.findings += await RangeAudit(of: pack.pack, at: whole.location, by: host).findings()
            }
        }
        for (index, location) in hosts.enumerated() {
            guard let connection = try? await host.probe.connection(to: location) else { continue }
            if index == 0 { report.connection = connection }
            guard index == 0 || location.authority != site.location.authority else { continue }
            report.findings += security(of: connection, to: location)
        }
        return report
    }

    private typealias Check = (HostInquiry.Reply) -> [Finding]
    private typealias Probe = (file: String, headers: [String: String], checks: [Check])

    /// What is asked for, how, and what each answer is examined for.
    private var probes: [Probe] {
        let always: [Probe] = [
            ("metadata/timestamp.json", [:], [redirection, lateness, encoding]),
            ("targets/packs/\(Self.absent)", [:], [absence]),
        ]
        guard let chain else { return always }
        let snapshot = MetadataRole.snapshot.hostedName(version: chain.snapshot.version)
        let nextRoot = MetadataRole.root.hostedName(version: chain.root.version + 1)
        let verified: [Probe] = [
            ("metadata/\(snapshot)", Self.anyEncoding, [lifetime, compression]),
            ("metadata/\(nextRoot)", [:], [absence]),
        ]
        return always + verified
    }

    /// Nobody has a pack of this digest.
    private static let absent = String(repeating: "0", count: 64) + ".missing.avpack"
    /// As other programs accept them; clients accept none.
    private static let anyEncoding = ["Accept-Encoding": "gzip, br, zstd"]
    private static let day = 86_400

    private static func rate(of bytes: Int, in time: Duration) -> UInt64? {
        let seconds = time / .seconds(1)
        return bytes > 0 && seconds > 0 ? UInt64(Double(bytes) / seconds) : nil
    }

    private func redirection(of found: HostInquiry.Reply) -> [Finding] {
        let (asked, location, status) = (found.asked, found.location, found.answer.status)
        if (300..<400).contains(status), status != 304 {
            return [
                .warning(
                    "redirected",
                    "the host redirects to a URL that is not examined, such as one with a signature in its query",
                    at: found.place, remedy: "audit the host that it redirects to")
            ]
        }
        guard location != asked else { return [] }
        var problem = "the host redirects to \(location.description.excerpt): each request costs a second one"
        if let other = location.authority, other != asked.authority {
            problem += "; clients with a list of allowed hosts need '\(other)' in it"
        }
        return [
            Finding(.note, "redirected", problem, at: found.place, remedy: "let clients use that URL")
        ]
    }

    private func encoding(of found: HostInquiry.Reply) -> [Finding] {
        found.answer.encoding.map { [.encoded($0, at: found.place)] } ?? []
    }

    private func lateness(of found: HostInquiry.Reply) -> [Finding] {
        let timestamp = found.answer
        guard timestamp.status == 200 else { return [] }
        let wait = max(timestamp.freshness ?? 0, timestamp.age)
        guard wait > 0 || timestamp.freshness == nil else { return [] }
        let problem =
            wait > 0
            ? "caches keep it for \(wait) seconds, so that clients learn of an update that late"
            : "nothing says how long caches may keep it, so that clients may learn of an update late"
        return [
            Finding(
                wait > 3_600 ? .error(.unavailable) : .warning, "cached-timestamp", problem, at: found.place,
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

    /// Of an answer to a request that accepts encodings.
    private func compression(of found: HostInquiry.Reply) -> [Finding] {
        guard let encoding = found.answer.encoding else { return [] }
        return [
            .warning(
                "compressed",
                "the host compresses it (\(encoding.excerpt)) for programs that accept that: it saves nothing, and clients refuse it if a cache gives it to them",
                at: found.place,
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

    private func absence(of found: HostInquiry.Reply) -> [Finding] {
        let answer = found.answer
        switch answer.status {
        case 403, 404, 410:
            let wait = max(answer.freshness ?? 0, answer.age)
            guard wait > 0 else { return [] }
            return [
                Finding(
                    wait > 3_600 ? .error(.unavailable) : .warning, "cached-absence",
                    "caches keep the answer that it is missing for \(wait) seconds, so that clients find a new file that late",
                    at: found.place, remedy: "let the host send 404 with 'Cache-Control: no-store'")
            ]
        case 200..<300:
            return [
                Finding(
                    .error(.unavailable), "found-what-is-missing",
                    "the host answers with status \(answer.status) for a file that is not there, such as with a page of an app",
                    at: found.place, remedy: "let the host answer with 404 for what is missing")
            ]
        default: return []
        }
    }
}

extension Finding {
    static func encoded(_ encoding: String, at place: String) -> Finding {
        Finding(
            .error(.unavailable), "encoded",
            "the host compresses it (\(encoding.excerpt)) although the request does not accept that: clients refuse it",
            at: place, remedy: "turn off compression for the site")
    }
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
