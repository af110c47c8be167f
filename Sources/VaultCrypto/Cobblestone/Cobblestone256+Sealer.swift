public import VaultErrors

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
