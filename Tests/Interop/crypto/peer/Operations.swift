import VaultBase
import VaultCrypto

typealias Bytes = [UInt8]
typealias Operation = @Sendable ([Bytes]) throws(VaultError) -> Bytes

/// What the judges may ask for.
let operations: [String: Operation] = [
    "sha256": taking { message in SHA256.hash(message.span).bytes },
    "sha512": taking { message in SHA512.hash(message.span).bytes },
    "hmac-sha256": taking { key, message in
        var hmac = HMACSHA256(key: secret(key))
        return hmac.authenticate(message.span).bytes
    },
    "hkdf-expand-sha512": taking { key, info, count throws(VaultError) in
        let count = count.reduce(0) { $0 << 8 | Int($1) }
        return exposed(try HKDF.expandSHA512(secret(key), info: info.span, count: count))
    },
    "gcm-seal": taking { key, nonce, associated, message throws(VaultError) in
        try AES256GCM.seal(
            message.span, nonce: nonce.span, authenticating: associated.span, key: secret(key))
    },
    "gcm-open": taking { key, nonce, associated, sealed throws(VaultError) in
        try AES256GCM.open(
            sealed.span, nonce: nonce.span, authenticating: associated.span, key: secret(key))
    },
    "wrap": taking { wrappingKey, key throws(VaultError) in
        try AESKeyWrap.wrap(secret(key), under: secret(wrappingKey))
    },
    "unwrap": taking { wrappingKey, wrapped throws(VaultError) in
        exposed(try AESKeyWrap.unwrap(wrapped.span, under: secret(wrappingKey)))
    },
    "cobblestone-seal": taking { key, context, salt, message throws(VaultError) in
        try Cobblestone256.seal(message.span, salt: salt, context: context, key: secret(key))
    },
    "cobblestone-open": taking { key, context, sealed throws(VaultError) in
        try Cobblestone256.open(sealed.span, context: context, key: secret(key))
    },
    "cobblestone-open-backwards": taking(openBackwards),
    "chunked-sha256-seal": taking { key, context, salt, message throws(VaultError) in
        var sealer = try Cobblestone256.Sealer(salt: salt, context: context, key: secret(key), hash: .sha256)
        var sealed = sealer.header
        try sealer.update(message.span, appendingTo: &sealed)
        sealer.finish(appendingTo: &sealed)
        return sealed
    },
    "chunked-sha256-open": taking { key, context, sealed throws(VaultError) in
        let header = sealed.span.extracting(first: Cobblestone256.headerLength)
        var opener = try Cobblestone256.Opener(
            header: header, context: context, key: secret(key), hash: .sha256)
        var message: Bytes = []
        try opener.openWhole(sealed.span, appendingTo: &message)
        return message
    },
    "ed25519-verify": taking { publicKey, signature, message in
        guard let key = Ed25519PublicKey(raw: publicKey.span) else { return [0] }
        return [key.isValid(signature: signature.span, for: message.span) ? 1 : 0]
    },
    /// The public key and the signature.
    "ed25519-sign": taking { pem, message throws(VaultError) in
        let key = try Ed25519PrivateKey(pem: secret(pem))
        return key.publicKey.raw + (try key.sign(message.span))
    },
    /// A fresh private key as PEM.
    "ed25519-generate": { _ throws(VaultError) in exposed(try Ed25519PrivateKey().pem()) },
    /// A private key's PEM, encrypted under a passphrase.
    "ed25519-encrypt": taking { pem, passphrase throws(VaultError) in
        let key = try Ed25519PrivateKey(pem: secret(pem))
        return exposed(try key.pem(encryptedWith: secret(passphrase)))
    },
    /// An encrypted private key's PEM, decrypted.
    "ed25519-decrypt": taking { pem, passphrase throws(VaultError) in
        let key = try Ed25519PrivateKey(pem: secret(pem), passphrase: secret(passphrase))
        return exposed(try key.pem())
    },
    "is-encrypted": taking { pem in [Ed25519PrivateKey.isEncrypted(pem: secret(pem)) ? 1 : 0] },
    /// A public key's PEM, normalised.
    "public-key": taking { pem throws(VaultError) in Bytes(try verifyingKey(pem).pem.utf8) },
    "verify": taking { pem, signature, message throws(VaultError) in
        [try verifyingKey(pem).isValid(signature: signature.span, for: message.span) ? 1 : 0]
    },
]

/// Opens the chunks one by one from the last to the first, as a reader that seeks does.
@Sendable private func openBackwards(key: Bytes, context: Bytes, sealed: Bytes) throws(VaultError) -> Bytes {
    let sealed = sealed.span
    var opener = try Cobblestone256.Opener(
        header: sealed.extracting(first: Cobblestone256.headerLength), context: context, key: secret(key))
    let starts = stride(
        from: Cobblestone256.headerLength, to: sealed.count, by: Cobblestone256.sealedChunkLength)
    var chunks: [Bytes] = []
    for (number, start) in Array(starts.enumerated()).reversed() {
        var chunk: Bytes = []
        let end = min(start + Cobblestone256.sealedChunkLength, sealed.count)
        try opener.openChunk(
            sealed.extracting(start..<end), number: UInt64(number), isLast: chunks.isEmpty,
            appendingTo: &chunk)
        chunks.append(chunk)
    }
    return Array(chunks.reversed().joined())
}

private func verifyingKey(_ pem: Bytes) throws(VaultError) -> VerifyingKey {
    guard let key = VerifyingKey(pem: pem.span) else {
        throw VaultError(.key, "no supported public key", at: "test", remedy: "none")
    }
    return key
}

private func secret(_ bytes: Bytes) -> SecretBytes {
    SecretBytes(copying: bytes.span)
}

private func exposed(_ secret: borrowing SecretBytes) -> Bytes {
    secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}

// Operations on one to four arguments.

private func taking(_ work: @escaping @Sendable (Bytes) throws(VaultError) -> Bytes) -> Operation {
    { arguments throws(VaultError) in try work(arguments[0]) }
}

private func taking(_ work: @escaping @Sendable (Bytes, Bytes) throws(VaultError) -> Bytes) -> Operation {
    { arguments throws(VaultError) in try work(arguments[0], arguments[1]) }
}

private func taking(_ work: @escaping @Sendable (Bytes, Bytes, Bytes) throws(VaultError) -> Bytes)
    -> Operation
{
    { arguments throws(VaultError) in try work(arguments[0], arguments[1], arguments[2]) }
}

private func taking(
    _ work: @escaping @Sendable (Bytes, Bytes, Bytes, Bytes) throws(VaultError) -> Bytes
) -> Operation {
    { arguments throws(VaultError) in try work(arguments[0], arguments[1], arguments[2], arguments[3]) }
}
