public import VaultBase

/// Keys that were built into the program in two shares, as the plugin `EmbeddedKeys` does it: a random mask, and the masked text
/// of a JWK Set. Each share alone is random, and the program's file nowhere has the key in one piece.
///
/// A speed bump: a person with the program has both shares.
public struct EmbeddedKeyProvider: RingKeyProvider {
    private let name: StaticString
    private let mask: StaticString
    private let masked: StaticString

    /// - Parameters:
    ///   - name: for errors.
    ///   - mask: random bytes, as base64url.
    ///   - masked: the text of a JWK Set exclusive-or the mask, as base64url.
    public init(_ name: StaticString, _ mask: StaticString, _ masked: StaticString) {
        self.name = name
        self.mask = mask
        self.masked = masked
    }

    /// Unmasked at each lookup, into secret memory only.
    public func ring() throws(VaultError) -> KeyRing {
        let mask = try share(mask)
        let masked = try share(masked)
        guard mask.count == masked.count else { throw damaged }
        let text = try SecretBytes(capacity: mask.count) { (text) throws(VaultError) in
            mask.withBytes { mask in
                masked.withBytes { masked in
                    for index in mask.indices { text[index] = mask[index] ^ masked[index] }
                }
            }
            return mask.count
        }
        return try KeyRing(parsingJWK: text, place: place)
    }

    private func share(_ share: StaticString) throws(VaultError) -> SecretBytes {
        let text = unsafe UnsafeBufferPointer(start: share.utf8Start, count: share.utf8CodeUnitCount)
        return try SecretBytes(capacity: text.count) { (bytes) throws(VaultError) in
            guard let count = unsafe Base64URL.decode(text.span, into: &bytes) else { throw damaged }
            return count
        }
    }

    private var place: String { "embedded key '\(name)'" }

    private var damaged: VaultError {
        VaultError(.key, "its shares are damaged", at: place, remedy: "build the program again")
    }
}
