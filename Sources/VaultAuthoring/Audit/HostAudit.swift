import SealedPack
import UpdateFramework
import VaultBase
import VaultSite
import VaultTransport

/// How a host serves a site. All its bytes may be right, and yet clients download too much, learn of an update late, or miss a new root.
///
/// Few requests suffice: of the timestamp, the snapshot, two files that are not there, and a pack, the largest one. A request that fails
/// gives no finding: the audit of the file itself reports that.
struct HostAudit {
    private let site: Site
    private let probe: any HostProbe
    private let chain: TrustChain
    private let pack: ListedPack?

    /// Nil for a folder.
    init?(of site: Site, _ chain: TrustChain, listing packs: [ListedPack]) {
        guard site.location.path == nil, let probe = site.transport as? any HostProbe else { return nil }
        (self.site, self.probe, self.chain) = (site, probe, chain)
        pack = packs.max { $0.pack.length < $1.pack.length }
    }

    func findings() async -> [Finding] {
        var findings = await metadataFindings()
        if let pack, let location = try? site.location(of: pack.target, in: chain) {
            findings += await RangeAudit(of: location, length: pack.pack.length, by: probe).findings()
        }
        return findings
    }

    private func metadataFindings() async -> [Finding] {
        var findings: [Finding] = []
        if let (place, answer) = await answer(for: "metadata/timestamp.json") {
            if answer.isRedirect { return [.redirected(at: place, to: answer)] }
            findings += lateness(of: answer, at: place)
        }
        let snapshot = "metadata/\(MetadataRole.snapshot.hostedName(version: chain.snapshot.version))"
        if let (place, answer) = await answer(for: snapshot), answer.status == 200,
            answer.freshness.map({ $0 < Self.day }) ?? true
        {
            findings.append(
                Finding(
                    .note, "uncached-file", "caches may not keep it for a day, although it never changes",
                    at: place,
                    remedy: "let numbered metadata and packs have 'Cache-Control: max-age=31536000'"))
        }
        let next = "metadata/\(MetadataRole.root.hostedName(version: chain.root.version + 1))"
        for name in [next, "targets/packs/\(Self.absent)"] {
            guard let (place, answer) = await answer(for: name) else { continue }
            findings += absence(as: answer, at: place)
        }
        return findings
    }

    /// Nobody has a pack of this digest.
    private static let absent = String(repeating: "0", count: 64) + ".missing.avpack"
    private static let day = 86_400

    private func answer(for name: String) async -> (place: String, answer: HostAnswer)? {
        guard let location = try? site.location.appending(name),
            let answer = try? await probe.ask(location, headers: [:], bodyUpTo: 0)
        else { return nil }
        return (location.description, answer)
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
        case 300..<400: return [.redirected(at: place, to: answer)]
        default: return []
        }
    }
}

/// Whether a host serves parts of a pack: without them each update, repair and resumed download is a download of the whole pack.
private struct RangeAudit {
    private let location: SiteLocation
    private let length: UInt64
    private let probe: any HostProbe
    private var place: String { location.description }

    init(of location: SiteLocation, length: UInt64, by probe: any HostProbe) {
        (self.location, self.length, self.probe) = (location, length, probe)
    }

    func findings() async -> [Finding] {
        // Sixteen bytes in the middle; every pack has more.
        let first = length / 2
        let wanted = first..<min(first + 16, length)
        guard let answer = await part(wanted), answer.status != 404 else { return [] }
        if answer.isRedirect { return [.redirected(at: place, to: answer)] }
        guard answer.status == 206 else {
            return answer.status == 200 ? [whole("Range requests")] : []
        }
        guard answer.isPart(wanted, of: length) else { return [wrongPart] }
        var findings: [Finding] = []
        let half = (wanted.lowerBound + UInt64(wanted.count / 2))..<wanted.upperBound
        if let again = await part(half) {
            if again.status == 200 {
                findings.append(whole("some Range requests"))
            } else if again.status != 206 || !again.isPart(half, of: length)
                || again.body != answer.body.suffix(half.count)
            {
                findings.append(wrongPart)
            }
            findings += tagFindings(answer["etag"], again["etag"])
        }
        if let tag = answer["etag"], !tag.hasPrefix("W/") { findings += await conditionFindings(wanted, tag) }
        if let end = await ask(["Range": "bytes=\(length)-"]), end.status != 416 {
            findings.append(
                .warning(
                    "range-behind-end", "a part behind its end gets status \(end.status) instead of 416",
                    at: place, remedy: "let the host answer Range requests as in RFC 9110"))
        }
        return findings
    }

    private func tagFindings(_ tag: String?, _ other: String?) -> [Finding] {
        let problem: String
        let code: Finding.Code
        switch (tag, other) {
        case (nil, _): (code, problem) = ("no-etag", "it has no ETag")
        case (let tag?, _) where tag.hasPrefix("W/"): (code, problem) = ("weak-etag", "its ETag is weak")
        case (let tag?, let other?) where tag != other:
            (code, problem) = ("changing-etag", "two answers have different ETags, such as of two servers")
        default: return []
        }
        return [
            .warning(
                code, "\(problem), so that an interrupted download begins again", at: place,
                remedy: "let the host send strong ETags that depend on the file alone")
        ]
    }

    private func conditionFindings(_ wanted: Range<UInt64>, _ tag: String) async -> [Finding] {
        let range = "bytes=\(wanted.lowerBound)-\(wanted.upperBound - 1)"
        guard let same = await ask(["Range": range, "If-Range": tag]),
            let other = await ask(["Range": range, "If-Range": "\"another\""])
        else { return [] }
        guard same.status != 206 || other.status != 200 else { return [] }
        return [
            .warning(
                "if-range",
                same.status != 206
                    ? "the host ignores If-Range with the right ETag, so that an interrupted download begins again"
                    : "the host sends a part although the ETag in If-Range is another one", at: place,
                remedy: "let the host answer If-Range as in RFC 9110")
        ]
    }

    private func whole(_ ignored: String) -> Finding {
        Finding(
            .error(.unavailable), "no-range",
            "the host ignores \(ignored): each update, repair or resumed download takes all \(length) bytes",
            at: place, remedy: "let the host serve parts of files (RFC 9110, section 14)")
    }

    private var wrongPart: Finding {
        Finding(
            .error(.unavailable), "wrong-range", "the host sends another part than it was asked for",
            at: place,
            remedy: "let the host answer Range requests as in RFC 9110")
    }

    private func part(_ range: Range<UInt64>) async -> HostAnswer? {
        await ask(["Range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
    }

    private func ask(_ headers: [String: String]) async -> HostAnswer? {
        try? await probe.ask(location, headers: headers, bodyUpTo: 64)
    }
}

extension HostAnswer {
    fileprivate var isRedirect: Bool { (300..<400).contains(status) && status != 304 }

    fileprivate func isPart(_ range: Range<UInt64>, of length: UInt64) -> Bool {
        self["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
            && body.count == range.count
    }
}

extension Finding {
    fileprivate static func redirected(at place: String, to answer: HostAnswer) -> Finding {
        Finding(
            .note, "redirected",
            "the host redirects to \((answer["location"] ?? "nowhere").excerpt), which costs each request a second one",
            at: place, remedy: "let clients use that URL")
    }
}
