internal import CVaultSystem

/// The permission bits that this process withholds from new files and folders (`umask`).
public struct Umask: Sendable, Equatable {
    private let bits: UInt16

    /// The current umask, from the system's status of the process: calling `umask` would change it for all threads. If
    /// that can't be read, only the owner gets permissions.
    public static var current: Umask {
        let found = vault_umask()
        return Umask(bits: found >= 0 ? UInt16(truncatingIfNeeded: found) : 0o077)
    }

    /// `permissions` without the bits of the umask.
    public func applied(to permissions: UInt16) -> UInt16 { permissions & ~bits }
}
