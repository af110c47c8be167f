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
        let middle = length / 2
        let wanted = middle..<min(middle + 16, length)
        guard let answer = await part(wanted), answer.status != 404 else { return [] }
        if let encoding = answer.encoding { return [.encoded(encoding, at: place)] }
        guard answer.status == 206 else {
            return answer.status == 200 ? [whole("Range requests")] : []
        }
        guard answer.isPart(wanted, of: length) else { return [wrongPart] }
        var findings: [Finding] = []
        let half = (middle + UInt64(wanted.count / 2))..<wanted.upperBound
        let tag = answer["etag"]
        let strong = tag.flatMap { $0.hasPrefix("W/") ? nil : $0 }
        var again = await part(half, ifRange: strong)
        if strong != nil, again?.status == 200 {
            // A 200 may come from a changed ETag, from If-Range, or from this range: it is asked for without If-Range.
            again = await part(half)
            if again?.status == 206, again?["etag"] == tag {
                findings.append(
                    warning(
                        "if-range",
                        "the host ignores If-Range with the right ETag, so that an interrupted download begins again",
                        Self.rules))
            }
        }
        if let again {
            if again.status == 200 {
                findings.append(whole("some Range requests"))
            } else if !again.isPart(half, of: length) || again.body != answer.body.suffix(half.count) {
                findings.append(wrongPart)
            }
            findings += tagFindings(tag, again["etag"])
        }
        if strong != nil, let other = await part(wanted, ifRange: "\"another\""), other.status == 206 {
            findings.append(
                warning(
                    "if-range", "the host sends a part although the ETag in If-Range is another one",
                    Self.rules))
        }
        if let end = await ask(["Range": "bytes=\(length)-"]), end.status != 416 {
            findings.append(
                warning(
                    "range-behind-end", "a part behind its end gets status \(end.status) instead of 416",
                    Self.rules))
        }
        return findings
    }

    private func tagFindings(_ tag: String?, _ other: String?) -> [Finding] {
        let remedy = "let the host send strong ETags that depend on the file alone"
        let effect = "so that an interrupted download begins again"
        guard let tag else { return [warning("no-etag", "it has no ETag, \(effect)", remedy)] }
        if tag.hasPrefix("W/") { return [warning("weak-etag", "its ETag is weak, \(effect)", remedy)] }
        guard let other, other != tag else { return [] }
        return [
            warning(
                "changing-etag", "two answers have different ETags, such as of two servers, \(effect)",
                remedy)
        ]
    }

    private func warning(_ code: Finding.Code, _ problem: String, _ remedy: String) -> Finding {
        .warning(code, problem, at: place, remedy: remedy)
    }

    private static let rules = "let the host answer Range requests as RFC 9110 says"

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
            at: place, remedy: Self.rules)
    }

    private func part(_ range: Range<UInt64>, ifRange tag: String? = nil) async -> HostAnswer? {
        var headers = ["Range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)"]
        headers["If-Range"] = tag
        return await ask(headers)
    }

    private func ask(_ headers: [String: String]) async -> HostAnswer? {
        await host.ask(location, headers, bodyUpTo: 64)?.answer
    }
}

extension HostAnswer {
    fileprivate func isPart(_ range: Range<UInt64>, of length: UInt64) -> Bool {
        status == 206
            && self["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
            && body.count == range.count
    }
}
