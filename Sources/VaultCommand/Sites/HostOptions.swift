import ArgumentParser
import VaultErrors
import VaultSite
import VaultTransport

/// The host that a vault whose `site/` is incomplete goes on from.
struct HostOptions: ParsableArguments {
    @Option(
        name: .customLong("against"),
        help: ArgumentHelp(
            "Go on from the site at this https, http or file URL, and write only what is new into site/.",
            valueName: "url"))
    private var host: String?

    @OptionGroup var connection: TransportOptions

    /// Nil without the option.
    func site() throws(VaultError) -> Site? {
        try host.map { text throws(VaultError) in
            Site(try SiteLocation(text), transport: try connection.transport())
        }
    }
}
