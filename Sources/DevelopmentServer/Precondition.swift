import NIOHTTP1

/// What a request's conditions say, in the order of RFC 9110, section 13.2.2.
///
/// Without `Last-Modified` there are no dates to compare: conditions on dates are ignored, and an
/// `If-Range` with a date does not hold.
enum Precondition: Equatable {
    /// `If-Match` names other versions only: 412.
    case failed
    /// `If-None-Match` names this version: 304.
    case notModified
    /// Go on, with this `Range` header, if any.
    case holds(range: String?)

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
        self = .holds(range: ifRange == nil || ifRange == entityTag ? headers.first(name: "Range") : nil)
    }
}
