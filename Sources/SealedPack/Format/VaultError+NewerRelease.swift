public import VaultErrors

extension VaultError {
    /// A part of the format that this release does not support, in an undamaged pack.
    package static func unsupportedFormat(_ problem: String, at place: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: place, remedy: "use a newer release of this program", code: .newerFormat)
    }

    /// Whether the pack is undamaged, so that another copy of it would be refused as well.
    public var needsNewerRelease: Bool { code == .newerFormat }
}

extension Finding.Code {
    fileprivate static let newerFormat: Self = "newer-format"
}
