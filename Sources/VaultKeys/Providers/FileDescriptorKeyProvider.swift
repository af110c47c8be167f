import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// A JWK or JWK Set from an inherited file descriptor, such as a pipe or standard input. It is read to its end at the
/// first lookup, and cached.
public actor FileDescriptorKeyProvider: RingKeyProvider {
    private let place: String
    private var unread: OpenFile?
    private var outcome: Result<KeyRing, VaultError>?

    /// Reads from a duplicate; the caller closes its own descriptor.
    ///
    /// - Throws: ``VaultErrors/VaultError`` of category `key` when it is not open.
    public init(descriptor: Int32) throws(VaultError) {
        place = "file descriptor \(descriptor)"
        unread = try OpenFile(
            duplicating: descriptor, remedy: "redirect the key, as in: command 3< key-file")
    }

    public func ring() throws(VaultError) -> KeyRing {
        if let file = unread.take() {
            outcome = Result { () throws(VaultError) in
                let text = try VaultError.aboutKeys { () throws(VaultError) in
                    try SecretBytes(readingAll: file)
                }
                return try KeyRing(parsingJWK: text, place: place)
            }
        }
        return try outcome?.get() ?? KeyRing()
    }
}
