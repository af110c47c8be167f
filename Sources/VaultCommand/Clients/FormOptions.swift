import ArgumentParser
import AssetVault

/// The form of packs in permanent storage.
struct FormOptions: ParsableArguments {
    private enum Flag: EnumerableFlag {
        case opened, sealed

        static func help(for flag: Flag) -> ArgumentHelp? {
            switch flag {
            case .opened: "Open packs into folders, also those that were kept sealed so far."
            case .sealed:
                "Keep packs sealed in permanent storage; their files are read in place. Later versions stay sealed."
            }
        }
    }

    @ArgumentParser.Flag(exclusivity: .exclusive)
    private var chosen: Flag?

    /// Nil keeps the form of the earlier version; a new pack is opened.
    var form: PackForm? {
        switch chosen {
        case .opened: .opened
        case .sealed: .sealed
        case nil: nil
        }
    }
}
