import ArgumentParser
import SystemPackage
import VaultErrors
import VaultTransport

/// The allowed hosts, and how they are reached.
struct TransportOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-domain"),
        help: ArgumentHelp(
            "Ask only this host, or the hosts below *.DOMAIN, redirects included; repeatable.",
            valueName: "host"))
    var allowedDomains: [String] = []

    @Option(
        help: ArgumentHelp("Reach hosts through http://HOST:PORT or socks5://HOST:PORT.", valueName: "url"))
    var proxy: String?

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp("Trust only the TLS authorities in this file.", valueName: "pem"),
        completion: .file())
    var authorities: String?

    func allowedHosts() throws(VaultError) -> AllowedHosts? {
        allowedDomains.isEmpty ? nil : try AllowedHosts(allowedDomains)
    }

    func transport() throws(VaultError) -> SchemeTransport {
        var certificates: CertificateAuthorities?
        if let authorities { certificates = try CertificateAuthorities(pem: FilePath(authorities)) }
        var httpProxy: HTTPProxy?
        if let proxy { httpProxy = try HTTPProxy(proxy) }
        return SchemeTransport(
            allowedHosts: try allowedHosts(), proxy: httpProxy, certificateAuthorities: certificates)
    }
}
