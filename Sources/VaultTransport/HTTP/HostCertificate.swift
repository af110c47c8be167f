import NIOCore
import NIOSSL

/// Compares a host's certificate with the requested name (RFC 9525). The TLS library has done that before, but also
/// accepts a certificate for the *address* of the connection: an attacker who redirects a name to his own address, and
/// has a certificate for that address, could impersonate the host.
enum HostCertificate {
    /// The certificate is for another host.
    struct Mismatch: Error {}

    /// The check to run when the TLS handshake is complete.
    static func check(for host: String) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        { channel in
            channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
                guard let certificate, isCertified(host, by: certificate) else {
                    channel.close(promise: nil)
                    throw Mismatch()
                }
            }
        }
    }

    private static func isCertified(_ host: String, by certificate: NIOSSLCertificate) -> Bool {
        let names = certificate._subjectAlternativeNames()
        // Without alternative names the TLS library compared the common name.
        if names.isEmpty { return true }
        return names.contains { name in
            name.nameType == .dnsName && matches(String(decoding: name.contents, as: UTF8.self), host)
        }
    }

    /// `*` matches one whole label, the first of three or more.
    static func matches(_ pattern: String, _ host: String) -> Bool {
        let pattern = labels(of: pattern)
        let host = labels(of: host)
        guard pattern.first == "*" else { return pattern == host }
        return pattern.count > 2 && pattern.count == host.count && pattern.dropFirst() == host.dropFirst()
    }

    private static func labels(of name: String) -> [Substring] {
        let name = name.lowercased()
        return (name.hasSuffix(".") ? name.dropLast() : name[...])
            .split(separator: ".", omittingEmptySubsequences: false)
    }
}
