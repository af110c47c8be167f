import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultHTTP
import VaultSite
import VaultTransport

/// The root that the verification of a site's metadata begins with.
struct TrustedRootOption: ParsableArguments {
    @Option(
        name: .customLong("trust"),
        help: ArgumentHelp("The trusted root file, from which the site is verified.", valueName: "root.json"),
        completion: .file(extensions: ["json"]))
    var path: String?

    /// Nil without the option.
    func root() throws(VaultError) -> VerifiedRoot? {
        try Self.root(named: path)
    }

    static func root(named path: String?) throws(VaultError) -> VerifiedRoot? {
        try path.map { path throws(VaultError) in try root(at: FilePath(path)) }
    }

    /// - Throws: `usage` for a file that is no root.
    static func root(at path: FilePath) throws(VaultError) -> VerifiedRoot {
        do throws(VaultError) { return try VerifiedRoot(trustedRootFile: path) } catch {
            guard error.category == .untrusted else { throw error }
            throw error.with(.usage)
        }
    }
}

/// The channel that a client follows.
struct ChannelOption: ParsableArguments {
    @Option(
        name: .customLong("channel"),
        help: ArgumentHelp(
            """
            The channel to follow, such as beta. A store keeps the last one that worked; the default is live.
            """,
            valueName: "name"))
    private var name: String?

    /// Nil without the option.
    var channel: Channel? {
        get throws(VaultError) { try name.map { name throws(VaultError) in try Channel(named: name) } }
    }
}

/// Options of the commands that list published packs again: in another channel, as before, or for other keys.
struct RelistingOptions: ParsableArguments {
    @OptionGroup var keys: KeyOptions
    @OptionGroup var host: HostOptions

    @Flag(help: "Report, and change nothing.")
    var dryRun = false

    @Flag(help: "Print a report as JSON.")
    var json = false

    func request() throws(VaultError) -> AuthorRequest {
        var request = try keys.request(at: host)
        request.isDryRun = dryRun
        return request
    }
}

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
        let certificates = try authorities.map { path throws(VaultError) in
            try CertificateAuthorities(pem: FilePath(path))
        }
        let proxy = try proxy.map { text throws(VaultError) in try HTTPProxy(text) }
        return SchemeTransport(
            HTTPTransport(
                allowedHosts: try allowedHosts(), proxy: proxy, certificateAuthorities: certificates))
    }
}

/// The vault that a command works on.
struct VaultArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The vault.", valueName: "vault"), completion: .directory)
    var path: String

    /// - Parameter passphrase: of its encrypted key files.
    func folder(_ passphrase: PassphraseOption) throws(VaultError) -> VaultFolder {
        VaultFolder(FilePath(path), passphrase: try passphrase.source())
    }
}

/// The host that a vault with an incomplete `site/` continues from.
struct HostOptions: ParsableArguments {
    @Option(
        name: .customLong("against"),
        help: ArgumentHelp(
            """
            Continue from the site at this https, http or file URL, on a machine without site/. Only new files are \
            written to site/.
            """, valueName: "url"))
    private var host: String?

    @OptionGroup var connection: TransportOptions

    /// Nil without the option.
    func site() throws(VaultError) -> Site? {
        try host.map { text throws(VaultError) in
            Site(try SiteLocation(text), transport: try connection.transport())
        }
    }
}
