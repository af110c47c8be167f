public import VaultErrors

extension VaultError {
    /// A part of the format that this release does not know, in a pack that is what its maker made.
    static func unknownFormat(_ problem: String, at place: String) -> VaultError {
        VaultError(.corrupt, problem, at: place, remedy: newerRelease)
    }

    private static let newerRelease = "use a newer release of this program"

    /// Whether nothing is damaged: another copy of the pack would be refused in the same way.
    public var needsNewerRelease: Bool { category == .corrupt && remedy == Self.newerRelease }
}
