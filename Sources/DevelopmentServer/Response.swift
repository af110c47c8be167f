import NIOHTTP1

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
