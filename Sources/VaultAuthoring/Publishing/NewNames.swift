import VaultErrors
import VaultSite

/// Quiet names are switched on or off in a channel: its clients have no pack by its new name.
enum NewNames {
    /// Nil where the names stay.
    ///
    /// - Parameter wereQuiet: nil where nothing is published yet.
    static func finding(from wereQuiet: Bool?, to areQuiet: Bool) -> Finding? {
        guard let wereQuiet, wereQuiet != areQuiet else { return nil }
        return .warning(
            "new-names",
            "quiet names are switched \(areQuiet ? "on" : "off"), so that all packs are listed by new names",
            at: "quietNames", remedy: "clients download them again")
    }

    /// Nil also for a listing without packs.
    static func finding(from present: OwnListing, to next: OwnListing) -> Finding? {
        guard !next.packs.isEmpty else { return nil }
        return finding(from: present.packs.isEmpty ? nil : present.hasQuietNames, to: next.hasQuietNames)
    }
}
