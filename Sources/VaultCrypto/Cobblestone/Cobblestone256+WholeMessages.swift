public import VaultErrors

extension Cobblestone256 {
    /// Seals a whole message in memory.
    /// - Parameter salt: 24 bytes, different for each message under one key; `.usage` for another size.
    /// - Parameter key: 32 uniformly random bytes; `.key` for another size.
    public static func seal(
        _ message: Span<UInt8>, salt: [UInt8], context: [UInt8], key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var sealed: [UInt8] = []
        try seal(message, salt: salt, context: context, key: key, appendingTo: &sealed)
        return sealed
    }

    /// The same, into a reusable buffer. After an error its content is undefined.
    public static func seal(
        _ message: Span<UInt8>, salt: [UInt8], context: [UInt8], key: borrowing SecretBytes,
        appendingTo output: inout [UInt8]
    ) throws(VaultError) {
        var sealer = try Sealer(salt: salt, context: context, key: key)
        let overhead = headerLength + (message.count / chunkLength + 1) * AES256GCM.tagLength
        output.reserveCapacity(output.count + message.count + overhead)
        output.append(contentsOf: sealer.header)
        try sealer.update(message, appendingTo: &output)
        sealer.finish(appendingTo: &output)
    }

    /// Opens a whole sealed message in memory; returns no plaintext unless every byte is authentic.
    /// - Throws: `.corrupt` for a wrong length, key, context or content, `.key` for a key that is not of 32 bytes.
    public static func open(
        _ sealed: Span<UInt8>, context: [UInt8], key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var message: [UInt8] = []
        try open(sealed, context: context, key: key, appendingTo: &message)
        return message
    }

    /// The same, into a reusable buffer. After an error nothing was appended.
    public static func open(
        _ sealed: Span<UInt8>, context: [UInt8], key: borrowing SecretBytes, appendingTo output: inout [UInt8]
    ) throws(VaultError) {
        var opener = try Opener(header: sealed.extracting(first: headerLength), context: context, key: key)
        try opener.openWhole(sealed, appendingTo: &output)
    }
}
