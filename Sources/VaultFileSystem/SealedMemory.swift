import CVaultSystem
public import SystemPackage
public import VaultBase

/// A file in memory only: without a name, never written to a disk (except swap space, as all memory), and freed with
/// its last descriptor. It is written once, then sealed (`memfd_create(2)`).
public struct SealedMemory: ~Copyable, Sendable {
    private let file: OpenFile
    private var size: UInt64 = 0

    /// - Parameter name: for error messages; other processes don't see it.
    public init(named name: FilePath) throws(VaultError) {
        let made = unsafe vault_memory(FilePath("assetvault").characters)
        file = OpenFile(
            takingOwnershipOf: try check(made, .creating, "make a file in memory", name), named: name)
    }

    /// Throws `.io` when there is not enough memory.
    public mutating func append(_ bytes: Span<UInt8>) throws(VaultError) {
        try file.write(bytes, at: size)
        size += UInt64(bytes.count)
    }

    /// The finished file, at its start: its content and size can't be changed any more. The caller closes it.
    public consuming func seal() throws(VaultError) -> FileDescriptor {
        try check(vault_seal(file.descriptor), .changing, "seal the file in memory", file.path)
        return try file.duplicated()
    }
}
