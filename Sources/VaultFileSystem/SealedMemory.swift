internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// A file that is in memory only: no name leads to it, nothing of it is written to a disk (but to swap space, as with
/// all memory), and it is gone with its last descriptor. Written once, then sealed for good (`memfd_create(2)`).
public struct SealedMemory: ~Copyable, Sendable {
    private let file: OpenFile
    private var count: UInt64 = 0

    /// - Parameter name: for error messages; other processes don't see it.
    public init(named name: FilePath) throws(VaultError) {
        let made = unsafe vault_memory(FilePath("assetvault").characters)
        file = OpenFile(
            takingOwnershipOf: try check(made, .creating, "make a file in memory", name), named: name)
    }

    /// Throws `.io` when there is not enough memory.
    public mutating func append(_ bytes: Span<UInt8>) throws(VaultError) {
        try file.write(bytes, at: count)
        count += UInt64(bytes.count)
    }

    /// The finished file, at its start: neither its bytes nor its length can be changed by anybody any more. The caller
    /// closes it.
    public consuming func seal() throws(VaultError) -> FileDescriptor {
        try check(vault_seal(file.descriptor), .changing, "seal the file in memory", file.path)
        return try file.duplicated()
    }
}
