public import VaultBase

/// Cobblestone-256: C2SP chunked encryption with AES-256-GCM and HKDF-Expand-SHA-512
/// (https://c2sp.org/chunked-encryption).
///
/// A sealed message is a salt (24 bytes), a commitment to key, salt and context (32 bytes), and one AES-256-GCM
/// ciphertext for each 16 KiB of the message; the last one is always shorter, and may have only its tag.
/// So each chunk can be opened by itself, and a truncated or extended message does not open.
public enum Cobblestone256 {
    public static let keyLength = 32
    public static let saltLength = 24
    /// Salt and commitment.
    public static let headerLength = 56
    public static let chunkLength = 16_384
    public static let sealedChunkLength = chunkLength + AES256GCM.tagLength

    /// At most 2^38 chunks, the last one not full: 4 PiB less one byte.
    static let maximalChunks: UInt64 = 1 << 38

    /// Bytes of the sealed message; nil for a message over the limit of 4 PiB - 1.
    public static func sealedLength(ofMessage count: UInt64) -> UInt64? {
        let fullChunks = count / UInt64(chunkLength)
        guard fullChunks < maximalChunks else { return nil }
        return UInt64(headerLength) + count + (fullChunks + 1) * UInt64(AES256GCM.tagLength)
    }

    /// Bytes of the plaintext; nil for a length that no sealed message has.
    public static func messageLength(ofSealed count: UInt64) -> UInt64? {
        guard count >= UInt64(headerLength) else { return nil }
        let body = count - UInt64(headerLength)
        let (fullChunks, lastChunk) = body.quotientAndRemainder(dividingBy: UInt64(sealedChunkLength))
        guard fullChunks < maximalChunks, lastChunk >= UInt64(AES256GCM.tagLength) else { return nil }
        return body - (fullChunks + 1) * UInt64(AES256GCM.tagLength)
    }
}

/// The cipher, base nonce and commitment that Cobblestone-256 derives for one message.
struct MessageKeys: ~Copyable, Sendable {
    private static let label = [UInt8]("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0".utf8)

    let commitment: [UInt8]
    var cipher: GCMCipher
    private let baseNonce: InlineArray<12, UInt8>

    /// `key || base nonce || commitment = HKDF-Expand(input key, label || salt || context)`.
    init(
        _ direction: GCMCipher.Direction, salt: Span<UInt8>, context: [UInt8],
        key inputKey: borrowing SecretBytes, hash: HKDF.Hash
    ) throws(VaultError) {
        guard inputKey.count == Cobblestone256.keyLength else {
            throw VaultError(
                .key, "the key has \(inputKey.count) bytes", at: "Cobblestone-256",
                remedy: "use one of 32 bytes")
        }
        var info = Self.label
        info.reserveCapacity(info.count + salt.count + context.count)
        for index in salt.indices { info.append(salt[index]) }
        info.append(contentsOf: context)
        let derived = try HKDF.expand(inputKey, with: hash, info: info.span, count: 32 + 12 + 32)
        cipher = derived.withBytes { GCMCipher(direction, key: $0.extracting(0..<32)) }
        baseNonce = derived.withBytes { bytes in InlineArray { bytes[32 + $0] } }
        commitment = derived.withBytes { bytes in (44..<76).map { bytes[$0] } }
    }

    func isCommitted(by commitment: Span<UInt8>) -> Bool {
        SecretBytes.constantTimeEqual(self.commitment.span, commitment)
    }

    /// Begins a chunk: its nonce is the base nonce XOR its number, big-endian.
    mutating func begin(chunk number: UInt64) {
        var nonce = baseNonce
        for place in 0..<8 {
            nonce[11 - place] ^= UInt8(truncatingIfNeeded: number >> (8 * place))
        }
        cipher.begin(nonce: nonce.span)
    }
}

extension Cobblestone256 {
    /// Seals a message in parts of any size, without buffering. The message is complete only after `finish`.
    public struct Sealer: ~Copyable, Sendable {
        /// Salt and commitment, the first 56 bytes of the sealed message.
        public let header: [UInt8]
        private var keys: MessageKeys
        private var chunk: UInt64 = 0
        private var chunkFilled = 0

        /// - Parameter salt: 24 bytes, different for each message under one key; `.usage` for another size.
        /// - Parameter key: 32 uniformly random bytes; `.key` for another size.
        public init(salt: [UInt8], context: [UInt8], key: borrowing SecretBytes) throws(VaultError) {
            try self.init(salt: salt, context: context, key: key, hash: .sha512)
        }

        package init(
            salt: [UInt8], context: [UInt8], key: borrowing SecretBytes, hash: HKDF.Hash
        ) throws(VaultError) {
            guard salt.count == saltLength else {
                throw VaultError(
                    .usage, "the salt has \(salt.count) bytes", at: "Cobblestone-256",
                    remedy: "use one of 24 bytes")
            }
            keys = try MessageKeys(.seal, salt: salt.span, context: context, key: key, hash: hash)
            header = salt + keys.commitment
            keys.begin(chunk: 0)
        }

        /// Encrypts the message's next part. `.usage` when the message exceeds 4 PiB - 1.
        public mutating func update(
            _ part: Span<UInt8>, appendingTo output: inout [UInt8]
        ) throws(VaultError) {
            var position = 0
            while position < part.count {
                let count = min(part.count - position, chunkLength - chunkFilled)
                keys.cipher.encrypt(part.extracting(position..<position + count), appendingTo: &output)
                position += count
                chunkFilled += count
                if chunkFilled == chunkLength { try beginNextChunk(appendingTo: &output) }
            }
        }

        /// Ends the message with its last chunk, which is never full and may be empty.
        public consuming func finish(appendingTo output: inout [UInt8]) {
            keys.cipher.appendTag(to: &output)
        }

        private mutating func beginNextChunk(appendingTo output: inout [UInt8]) throws(VaultError) {
            guard chunk + 1 < maximalChunks else {
                throw VaultError(
                    .usage, "the message exceeds 4 PiB", at: "Cobblestone-256", remedy: "seal it in parts")
            }
            keys.cipher.appendTag(to: &output)
            chunk += 1
            chunkFilled = 0
            keys.begin(chunk: chunk)
        }
    }
}

extension Cobblestone256 {
    /// Opens one sealed message: chunks in any order, or all of it.
    public struct Opener: ~Copyable, Sendable {
        private var keys: MessageKeys

        /// - Parameter header: the first 56 bytes of the sealed message.
        /// - Throws: `.corrupt` when the header does not commit to this key and context, `.key` for a key that is not
        ///   of 32 bytes.
        public init(header: Span<UInt8>, context: [UInt8], key: borrowing SecretBytes) throws(VaultError) {
            try self.init(header: header, context: context, key: key, hash: .sha512)
        }

        package init(
            header: Span<UInt8>, context: [UInt8], key: borrowing SecretBytes, hash: HKDF.Hash
        ) throws(VaultError) {
            guard header.count == headerLength else {
                throw corruption("the header has \(header.count) bytes")
            }
            let salt = header.extracting(0..<saltLength)
            let keys = try MessageKeys(.open, salt: salt, context: context, key: key, hash: hash)
            guard keys.isCommitted(by: header.extracting(saltLength..<headerLength)) else {
                throw corruption("the header does not belong to this key and context")
            }
            self.keys = keys
        }

        /// Decrypts one whole chunk with its tag; nothing is appended unless the tag is valid.
        ///
        /// Chunk `n` is at byte `56 + 16,400 * n` of the sealed message. Only the last chunk is shorter than 16,400
        /// bytes, and it always is, so opening the last chunk verifies the message's length.
        /// - Throws: `.corrupt`.
        public mutating func openChunk(
            _ sealedChunk: Span<UInt8>, number: UInt64, isLast: Bool, appendingTo output: inout [UInt8]
        ) throws(VaultError) {
            let lengthFits =
                isLast
                ? sealedChunk.count >= AES256GCM.tagLength && sealedChunk.count < sealedChunkLength
                : sealedChunk.count == sealedChunkLength
            guard lengthFits, number < maximalChunks else {
                throw corruption("chunk \(number) can't have \(sealedChunk.count) bytes")
            }
            keys.begin(chunk: number)
            guard keys.cipher.decrypt(sealedChunk, appendingTo: &output) else {
                throw corruption("chunk \(number) fails authentication")
            }
        }

        /// Decrypts the whole sealed message with this header; nothing stays appended unless every tag is valid.
        package mutating func openWhole(
            _ sealed: Span<UInt8>, appendingTo output: inout [UInt8]
        ) throws(VaultError) {
            guard let messageLength = messageLength(ofSealed: UInt64(sealed.count)) else {
                throw corruption(
                    "a sealed message can't have \(sealed.count) bytes, so it was truncated or changed")
            }
            let before = output.count
            output.reserveCapacity(before + Int(messageLength))
            do throws(VaultError) {
                var position = headerLength
                var number: UInt64 = 0
                while position < sealed.count {
                    let end = min(position + sealedChunkLength, sealed.count)
                    try openChunk(
                        sealed.extracting(position..<end), number: number,
                        isLast: end - position < sealedChunkLength, appendingTo: &output)
                    position = end
                    number += 1
                }
            } catch {
                output.removeSubrange(before...)
                throw error
            }
        }
    }

    private static func corruption(_ problem: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: "encrypted message", remedy: "fetch the data again, or use the right key")
    }
}

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
