import NIOCore
import NIOSSL

/// Holds a host's certificate against the name that it was asked for by (RFC 9525). The TLS library has done that before, but is
/// content with a certificate for the *address* of the connection, too: whoever makes a name lead to an address of his own,
/// and has a certificate for that address, would be taken for the host.
enum HostCertificate {
    /// The certificate is somebody else's.
    struct Mismatch: Error {}

    /// What is to be done with a connection once TLS stands.
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
        // Then its common name was compared.
        if names.isEmpty { return true }
        return names.contains { name in
            name.nameType == .dnsName && matches(String(decoding: name.contents, as: UTF8.self), host)
        }
    }

    /// `*` stands for one whole label, the first of three or more.
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
