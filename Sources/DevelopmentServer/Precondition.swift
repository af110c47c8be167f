import NIOHTTP1

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
