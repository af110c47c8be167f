import VaultSite

/// Quiet names are switched on or off in a channel: its clients have no pack by its new name.
struct NewNames: SiteNotice {
    private let areQuiet: Bool

    /// Nil where the names stay.
    ///
    /// - Parameter wereQuiet: nil where nothing is published yet.
    init?(from wereQuiet: Bool?, to areQuiet: Bool) {
        guard let wereQuiet, wereQuiet != areQuiet else { return nil }
        self.areQuiet = areQuiet
    }

    /// Nil also for a listing without packs.
    init?(from present: OwnListing, to next: OwnListing) {
        guard !next.packs.isEmpty else { return nil }
        self.init(from: present.packs.isEmpty ? nil : present.hasQuietNames, to: next.hasQuietNames)
    }

    var problem: String {
        "quiet names are switched \(areQuiet ? "on" : "off"), so that all packs are listed by new names"
    }
    var remedy: String { "clients download them again" }
}
