internal import CVaultSystem

/// The permission bits that this process withholds from what it makes (`umask`).
public struct Umask: Sendable, Equatable {
    private let bits: UInt16

    /// As it is now. Read from the system's status of the process: the call of that name would change it for all threads.
    /// Where that can't be read, all but the owner are shut out.
    public static var current: Umask {
        let found = vault_umask()
        return Umask(bits: found >= 0 ? UInt16(truncatingIfNeeded: found) : 0o077)
    }

    /// What is left of `permissions`.
    public func applied(to permissions: UInt16) -> UInt16 { permissions & ~bits }
}
