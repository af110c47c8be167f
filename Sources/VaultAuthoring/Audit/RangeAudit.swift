import SealedPack
import VaultBase
import VaultTransport

/// Whether a host serves parts of a pack: without them each update, repair and resumed download is a download of the whole pack.
struct RangeAudit {
    private let pack: PackManifest
    private let location: SiteLocation
    private let host: HostInquiry
    private var length: UInt64 { pack.length }
    private var place: String { location.description }

    init(of pack: PackManifest, at location: SiteLocation, by host: HostInquiry) {
        (self.pack, self.location, self.host) = (pack, location, host)
    }

    func findings() async -> [Finding] {
        // Sixteen bytes in the middle; every pack has more.
        let first = length / 2
        let wanted = first..<min(first + 16, length)
        guard let answer = await part(wanted), answer.status != 404 else { return [] }
        if let encoding = answer.encoding { return [.encoded(encoding, at: place)] }
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
        let piece = pack.pieceCount == 0 ? 0 : length / UInt64(pack.pieceCount)
        return Finding(
            .error(.unavailable), "no-range",
            "the host ignores \(ignored): each update, repair or resumed download takes all \(length.sizeInUnits), where one"
                + " changed piece needs \((pack.tailLength + piece).sizeInUnits)", at: place,
            remedy: "let the host serve parts of files (RFC 9110, section 14)")
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
        await host.ask(location, headers, bodyUpTo: 64)?.answer
    }
}

extension HostAnswer {
    fileprivate func isPart(_ range: Range<UInt64>, of length: UInt64) -> Bool {
        self["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
            && body.count == range.count
    }
}
