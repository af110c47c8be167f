import NIOHTTP1
import VaultBase
import VaultFileSystem

/// The folder that is served.
final class StaticSite: Sendable {
    private let root: Folder
    /// Bytes that are missing at the end of each pack.
    private let truncation: UInt64
    /// The timestamp as it was at the start: publishing replaces its file, and leaves this one as it is.
    private let oldTimestamp: StaticFile?

    private static let timestamp = ["metadata", "timestamp.json"].map { Array($0.utf8) }

    init(_ root: consuming Folder, _ conditions: NetworkConditions = NetworkConditions()) {
        truncation = conditions.truncation
        oldTimestamp = conditions.isStale ? (try? Self.open(Self.timestamp, in: root)) : nil
        self.root = root
    }

    /// - Parameters:
    ///   - names: folders, then the file.
    ///   - missing: bytes that are not served at its end.
    private static func open(
        _ names: [[UInt8]], in root: borrowing Folder, missing: UInt64 = 0
    ) throws(VaultError) -> StaticFile {
        var folder = try root.reopened()
        for name in names.dropLast() { folder = try folder.openFolder(name) }
        let name = names.last ?? []
        return try StaticFile(try folder.openFile(name), name: name, missing: missing)
    }

    /// The file at a request's target; nil unless it is a readable file below the root.
    ///
    /// Every component is opened without following links, so that no path leaves the root.
    func file(at target: String) -> StaticFile? {
        guard let names = Self.names(in: target), let last = names.last else { return nil }
        if let oldTimestamp, names == Self.timestamp { return oldTimestamp }
        let missing = last.suffix(7).elementsEqual(".avpack".utf8) ? truncation : 0
        return try? Self.open(names, in: root, missing: missing)
    }

    /// The components of `/a/b%20c?query`, decoded one by one; nil when one is empty or hidden. ``Folder`` refuses a
    /// decoded slash or NUL.
    static func names(in target: String) -> [[UInt8]]? {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.first == UInt8(ascii: "/") else { return nil }
        var names: [[UInt8]] = []
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            guard let name = PercentEncoding.decode(segment), let first = name.first,
                first != UInt8(ascii: ".")
            else { return nil }
            names.append(name)
        }
        return names
    }
}

/// An open file to serve, with the attributes that it had when it was opened.
final class StaticFile: Sendable {
    private let file: OpenFile
    private let name: [UInt8]
    /// Bytes.
    let size: UInt64
    /// Whether bytes at its end are not served.
    let isTruncated: Bool
    /// Strong: made of the inode, size and both times (in nanoseconds).
    let entityTag: String

    /// - Parameter missing: bytes that are not served at its end.
    init(_ file: consuming OpenFile, name: [UInt8], missing: UInt64 = 0) throws(VaultError) {
        let status = try file.status()
        self.file = file
        self.name = name
        size = status.size - min(missing, status.size)
        isTruncated = size < status.size
        let parts = [
            status.inode, status.size, UInt64(bitPattern: status.modified),
            UInt64(bitPattern: status.changed),
        ]
        entityTag = "\"\(parts.map { String($0, radix: 16) }.joined(separator: "-"))\""
    }

    var contentType: String {
        name.suffix(5).elementsEqual(".json".utf8) ? "application/json" : "application/octet-stream"
    }

    /// Files whose names begin with a SHA-256, and metadata with a version, such as `2.targets.json`, never change; all others must be
    /// revalidated.
    var cacheControl: String {
        let parts = name.split(separator: UInt8(ascii: "."))
        let stem = parts.first ?? []
        let isVersion =
            parts.count > 2 && parts.last?.elementsEqual("json".utf8) == true
            && stem.allSatisfy { (0x30...0x39).contains($0) }
        let isDigest =
            stem.count == 64 && stem.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isDigest || isVersion ? "public, max-age=31536000, immutable" : "no-cache"
    }

    /// At most `count` bytes from `offset`; fewer only at the end of the file.
    func read(upTo count: Int, at offset: UInt64) throws(VaultError) -> [UInt8] {
        var bytes: [UInt8] = []
        try file.read(into: &bytes, upTo: count, at: offset)
        return bytes
    }
}

struct Response {
    enum Body {
        case empty
        case text(String)
        case file(StaticFile, Range<UInt64>)
    }

    private(set) var status: HTTPResponseStatus
    private(set) var headers: HTTPHeaders
    /// The body of a GET response; HEAD sends only the headers.
    private(set) var body: Body

    init(to request: HTTPRequestHead, from site: StaticSite) {
        guard request.method == .GET || request.method == .HEAD else {
            self.init(.methodNotAllowed, ["Allow": "GET, HEAD"])
            return
        }
        guard let file = site.file(at: request.uri) else {
            self.init(.notFound)
            return
        }
        let validators: HTTPHeaders = ["ETag": file.entityTag, "Cache-Control": file.cacheControl]
        switch Precondition(request.headers, entityTag: file.entityTag) {
        case .failed: self.init(.preconditionFailed)
        case .notModified: self.init(.notModified, validators, .empty)
        case .satisfied(let range):
            switch RangeSelection(header: range, size: file.size) {
            case .unsatisfiable: self.init(.rangeNotSatisfiable, ["Content-Range": "bytes */\(file.size)"])
            case .whole: self.init(.ok, validators, .file(file, 0..<file.size))
            case .part(let part):
                self.init(.partialContent, validators, .file(file, part))
                headers.add(
                    name: "Content-Range",
                    value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.size)")
            }
        }
    }

    /// A host that is overloaded.
    static let unavailable = Response(.serviceUnavailable)

    private init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders = [:], _ body: Body? = nil) {
        (self.status, self.headers) = (status, headers)
        self.body = body ?? .text("\(status.code) \(status.reasonPhrase)\n")
        switch self.body {
        case .empty: break
        case .text(let text):
            self.headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
            self.headers.add(name: "Content-Length", value: String(text.utf8.count))
        case .file(let file, let part):
            self.headers.add(name: "Content-Type", value: file.contentType)
            self.headers.add(name: "Content-Length", value: String(part.count))
            self.headers.add(name: "Accept-Ranges", value: "bytes")
        }
    }
}

/// The part of a file that a `Range` header requests (RFC 9110, section 14.2), parsed as nginx does.
enum RangeSelection: Equatable {
    /// No range, another unit, an empty file, or several ranges.
    case whole
    case part(Range<UInt64>)
    /// The ranges are malformed or outside of the file: 416.
    case unsatisfiable

    init(header: String?, size: UInt64) {
        guard let header, header.utf8.count >= 7, header.prefix(6).lowercased() == "bytes=" else {
            self = .whole
            return
        }
        var parts: [Range<UInt64>] = []
        for spec in header.dropFirst(6).split(separator: ",", omittingEmptySubsequences: false) {
            guard let (first, end) = Self.bounds(spec, size: size) else {
                self = .unsatisfiable
                return
            }
            if first < end {
                parts.append(first..<end)
            } else if first == 0 {
                self = .whole
                return
            }
        }
        switch parts.count {
        case 0: self = .unsatisfiable
        case 1: self = .part(parts[0])
        default: self = .whole
        }
    }

    /// The first byte and the one after the last, clamped to the file; nil when malformed.
    private static func bounds(_ spec: Substring, size: UInt64) -> (UInt64, UInt64)? {
        let ends = spec.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let (first, last) = (ends[0].trimmingSpaces, ends[1].trimmingSpaces)
        if first.isEmpty {
            guard let count = number(last), !ends[1].hasPrefix(" ") else { return nil }
            return (count < size ? size - count : 0, size)
        }
        guard let first = number(first) else { return nil }
        if last.isEmpty { return (first, size) }
        guard let last = number(last) else { return nil }
        return (first, last < size ? last + 1 : size)
    }

    private static func number(_ text: Substring) -> UInt64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text).map { UInt64($0) }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        let start = drop { $0 == " " }
        guard let last = start.lastIndex(where: { $0 != " " }) else { return start.prefix(0) }
        return start[...last]
    }
}

/// The result of a request's conditions, evaluated in the order of RFC 9110, section 13.2.2.
///
/// No `Last-Modified` is sent: conditions on dates are ignored, and an `If-Range` with a date fails.
enum Precondition: Equatable {
    /// `If-Match` lists other versions only: 412.
    case failed
    /// `If-None-Match` lists this version: 304.
    case notModified
    /// Proceed, with this `Range` header, if any.
    case satisfied(range: String?)

    init(_ headers: HTTPHeaders, entityTag: String) {
        let match = headers[canonicalForm: "If-Match"]
        guard match.isEmpty || match.contains("*") || match.contains(entityTag[...]) else {
            self = .failed
            return
        }
        let noneMatch = headers[canonicalForm: "If-None-Match"]
        guard !noneMatch.contains(where: { $0 == "*" || $0 == entityTag || $0 == "W/\(entityTag)" }) else {
            self = .notModified
            return
        }
        let ifRange = headers.first(name: "If-Range")
        self = .satisfied(range: ifRange == nil || ifRange == entityTag ? headers.first(name: "Range") : nil)
    }
}
