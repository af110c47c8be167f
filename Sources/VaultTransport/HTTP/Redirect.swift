import AsyncHTTPClient
import NIOHTTP1
import VaultErrors

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.URL
#else
    import struct Foundation.URL
#endif

/// The target of a redirect (RFC 9110, section 15.4).
enum Redirect {
    /// Nil when the response is no redirect.
    ///
    /// - Throws: `.unavailable` for a redirect without a usable target or from https to http.
    static func target(
        of response: HTTPClientResponse, from url: HTTPURL, for request: TransportRequest
    ) throws(VaultError) -> HTTPURL? {
        guard [301, 302, 303, 307, 308].contains(response.status.code) else { return nil }
        guard let location = response.headers.first(name: "Location"),
            let target = resolve(location, from: url)
        else {
            throw VaultError(
                .unavailable, "redirected, but not to an http or https URL", at: request.location.description,
                remedy: "check the URL and the host")
        }
        guard target.isSecure || !url.isSecure else {
            throw VaultError(
                .unavailable, "redirected from https to http, which is not followed",
                at: request.location.description, remedy: "configure the host to redirect to https only")
        }
        return target
    }

    /// The target of a `Location` header, which may be relative (RFC 3986, section 5).
    static func resolve(_ location: String, from url: HTTPURL) -> HTTPURL? {
        guard let base = URL(string: url.text) else { return nil }
        return URL(string: location, relativeTo: base).flatMap { HTTPURL($0.absoluteString) }
    }
}
