import ArgumentParser
import VaultErrors
import VaultSite

/// What the device states of itself.
struct DeviceOption: ParsableArguments {
    @Option(
        name: .customLong("device"),
        help: ArgumentHelp(
            "What the device states, such as scale=2 or language=de-AT,en: of packs that are variants of each other only the one that fits is taken; repeatable, and 'all' takes all variants. A store goes on with what was named last and worked, at first with a device that states nothing and gets the fallbacks.",
            valueName: "trait=value"))
    private var texts: [String] = []

    /// Says that variants were left out by traits of which nothing was ever stated.
    static func note(unstated traits: [String]) {
        guard !traits.isEmpty else { return }
        Console.note(
            "no device is stated: of variants by \(traits.listed(upTo: 8)) the fallbacks are taken; state it, such as --device \(traits[0])=VALUE, or take all with --device all"
        )
    }

    /// Nil without the option.
    var traits: DeviceTraits? {
        get throws(VaultError) { texts.isEmpty ? nil : try DeviceTraits(parsing: texts) }
    }
}
