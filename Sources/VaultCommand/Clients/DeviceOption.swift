import ArgumentParser
import VaultErrors
import VaultSite

/// What the device states of itself.
struct DeviceOption: ParsableArguments {
    @Option(
        name: .customLong("device"),
        help: ArgumentHelp(
            "What the device states, such as scale=2 or language=de-AT,en: of packs that are variants of each other only the one that fits is taken; repeatable, and 'all' takes all variants. A store goes on with what was named last, at first with all.",
            valueName: "trait=value"))
    private var texts: [String] = []

    /// Nil without the option.
    var traits: DeviceTraits? {
        get throws(VaultError) { texts.isEmpty ? nil : try DeviceTraits(parsing: texts) }
    }
}
