import ArgumentParser
import AssetVault
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultTransport

/// The site that a client uses, and the packs that it fetches.
struct SiteOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The site: https, http or file URL, or a folder.", valueName: "url"),
        completion: .directory)
    var url: String

    @Option(help: ArgumentHelp("Another host of the same site; repeatable.", valueName: "url"))
    var mirror: [String] = []

    @Option(
        help: ArgumentHelp("The site's root file; needed the first time only.", valueName: "root.json"),
        completion: .file(extensions: ["json"]))
    var trust: String?

    @OptionGroup var listing: ListingOptions

    @OptionGroup var device: DeviceOption

    @OptionGroup var connection: TransportOptions

    func configuration(of store: StoreLayout) throws(VaultError) -> VaultConfiguration {
        var configuration = VaultConfiguration(
            site: try location(), store: store, transport: try connection.transport())
        for text in mirror { configuration.mirrors.append(try SiteLocation(text)) }
        if let trust {
            configuration.trustedRoot = try TrustedRootOption.root(at: FilePath(trust))
        }
        configuration.policy.allowedHosts = try connection.allowedHosts()
        configuration.channel = try listing.channel.channel
        configuration.appVersion = try listing.version
        configuration.device = try device.traits
        return configuration
    }

    /// A mistyped folder is no site, and no mirror can help.
    private func location() throws(VaultError) -> SiteLocation {
        let location = try SiteLocation(url)
        if mirror.isEmpty, let folder = location.path { try folder.requireSite() }
        return location
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
        var certificates: CertificateAuthorities?
        if let authorities { certificates = try CertificateAuthorities(pem: FilePath(authorities)) }
        var httpProxy: HTTPProxy?
        if let proxy { httpProxy = try HTTPProxy(proxy) }
        return SchemeTransport(
            allowedHosts: try allowedHosts(), proxy: httpProxy, certificateAuthorities: certificates)
    }
}

/// The root that the verification of a site's metadata begins with.
struct TrustedRootOption: ParsableArguments {
    @Option(
        name: .customLong("trust"),
        help: ArgumentHelp("The root file that the site must follow from.", valueName: "root.json"),
        completion: .file(extensions: ["json"]))
    var path: String?

    /// Nil without the option.
    func root() throws(VaultError) -> [UInt8]? {
        try path.map { path throws(VaultError) in try Self.root(at: FilePath(path)) }
    }

    static func root(at path: FilePath) throws(VaultError) -> [UInt8] {
        try DurableFile.read(path, limit: MetadataRole.root.sizeLimit)
    }
}

extension FilePath {
    /// Throws `.missing` for anything but a site's folder.
    func requireSite() throws(VaultError) {
        guard try FileSystem.status(of: appending("metadata"), followingLinks: true)?.kind != .folder else {
            return
        }
        guard try FileSystem.status(of: self, followingLinks: true)?.kind == .folder else {
            throw VaultError(
                .missing, "there is no such folder", at: string,
                remedy: "check the path; the URL of a host begins with https://")
        }
        throw VaultError(
            .missing, "this folder holds no metadata/, so it is no site", at: string,
            remedy: "name the site's own folder, such as VAULT/site")
    }
}
