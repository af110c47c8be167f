import ArgumentParser
import SealedPack
import VaultErrors
import VaultSite

/// Which of a site's lists of packs is followed.
struct ChannelOption: ParsableArguments {
    @Option(
        name: .customLong("channel"),
        help: ArgumentHelp(
            "The site's channel, such as beta; a store goes on with the last one that was named and worked, at first live.",
            valueName: "name"))
    private var name: String?

    /// Nil without the option.
    var channel: Channel? {
        get throws(VaultError) { try name.map { name throws(VaultError) in try Channel(named: name) } }
    }
}

/// Which packs of a site a client sees.
struct ListingOptions: ParsableArguments {
    @OptionGroup var channel: ChannelOption

    @Option(
        name: .customLong("app-version"),
        help: ArgumentHelp(
            "The version of the app, such as 2.1: of packs that are listed in several versions the one for it is taken; a store goes on with the last one that was named.",
            valueName: "version"))
    private var appVersion: String?

    /// Nil without the option.
    var version: AppVersion? {
        get throws(VaultError) { try appVersion.map { text throws(VaultError) in try AppVersion(text) } }
    }
}
