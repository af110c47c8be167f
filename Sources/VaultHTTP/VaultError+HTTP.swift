import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SystemPackage
import VaultBase
import VaultTransport

extension VaultError {
    /// Explains a failed request or a broken body: the host or the network failed.
    /// - Parameter peer: what the connection was for: a host or a proxy.
    init(transport error: any Error, at place: String, reaching peer: String = "the host") {
        let (problem, remedy) = Self.explain(error, peer)
        self.init(
            Self.isUnreachable(error) ? .unreachable : .unavailable, problem, at: place, remedy: remedy)
    }

    /// Whether no connection was made.
    private static func isUnreachable(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError:
            [.connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout].contains(error)
        case is NIOConnectionError: true
        case let error as IOError: isUnreachable(error.errnoCode)
        default: false
        }
    }

    private static func explain(_ error: any Error, _ peer: String) -> (problem: String, remedy: String) {
        switch error {
        case is CancellationError: ("the transfer was cancelled", "start it again")
        case let error as HTTPClientError: explain(error, peer)
        case let error as NIOConnectionError:
            unreachable(peer, reason(error))
        case let error as IOError where isUnreachable(error.errnoCode):
            unreachable(peer, Errno(rawValue: error.errnoCode).description)
        case let error as IOError:
            ("the connection broke (\(Errno(rawValue: error.errnoCode).description))", "try again")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            (
                "no secure connection\(tlsReason(error))",
                "check that the URL has an https port, the host's certificate and this machine's clock"
            )
        case is HostCertificate.Mismatch:
            (
                "no secure connection (the certificate is for another host)",
                "use the host name that is in the certificate"
            )
        case let error as ResponseStatusCheck.InvalidStatus:
            ("the response is not valid HTTP (status \(error.code))", "check the URL and the host")
        case let error as SurplusCheck.Surplus:
            (
                "the host sent \(error.count) bytes beside what was asked for, such as very long headers",
                "use another mirror, or report this to the host"
            )
        case HTTPParserError.invalidEOFState: ("the host closed the connection too early", "try again")
        case is HTTPParserError:
            ("the response is not valid HTTP (\(brief(error)))", "check the URL and the host")
        default: ("the request failed (\(brief(error)))", "check the URL and the host")
        }
    }

    private static func explain(_ error: HTTPClientError, _ peer: String) -> (problem: String, remedy: String)
    {
        switch error {
        case .cancelled: ("the transfer was cancelled", "start it again")
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
            unreachable(peer, "no response in time")
        case .deadlineExceeded: ("the host did not respond in time", "try again later")
        case .readTimeout: ("the host stopped sending", "try again")
        case .proxyAuthenticationRequired:
            ("the proxy requires a login", "use a proxy without a login, or set its authorization")
        case .invalidProxyResponse:
            ("\(peer) did not connect to the host", "check the proxy's address and permissions")
        case .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
            ("\(peer) did not respond in time", "check the proxy's address")
        case .remoteConnectionClosed: ("the host closed the connection too early", "try again")
        default: ("the request failed (\(error.shortDescription))", "check the URL and the host")
        }
    }

    private static func unreachable(_ peer: String, _ reason: String) -> (problem: String, remedy: String) {
        (
            "can't reach \(peer) (\(reason))",
            "check the address and the network, and that the server is running"
        )
    }

    private static func isUnreachable(_ code: CInt) -> Bool {
        switch Errno(rawValue: code) {
        case .connectionRefused, .noRouteToHost, .networkUnreachable, .timedOut: true
        default: false
        }
    }

    private static func reason(_ error: NIOConnectionError) -> String {
        guard let failure = error.connectionErrors.last?.error else { return "unknown host \(error.host)" }
        return (failure as? IOError).map { Errno(rawValue: $0.errnoCode).description } ?? brief(failure)
    }

    /// The TLS library's name for the reason, such as CERTIFICATE_VERIFY_FAILED.
    private static func tlsReason(_ error: any Error) -> String {
        let words = String(describing: error).split {
            !($0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_"))
        }
        return words.first { $0.contains("_") && !$0.hasSuffix("_") }.map { " (\($0))" } ?? ""
    }

    private static func brief(_ error: any Error) -> String { String(String(describing: error).prefix(200)) }
}
