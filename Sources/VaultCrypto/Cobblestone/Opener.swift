public import VaultErrors

extension Cobblestone256 {
    /// Opens chunks of one sealed message in any order.
    public struct Opener: ~Copyable, Sendable {
        private var keys: MessageKeys

        /// - Parameter header: the first 56 bytes of the sealed message.
        /// - Throws: `.corrupt` when the header does not commit to this key and context, `.key` for a key that is not
        ///   of 32 bytes.
        public init(header: Span<UInt8>, context: [UInt8], key: borrowing SecretBytes) throws(VaultError) {
            guard header.count == headerCount else {
                throw corruption("the header has \(header.count) bytes")
            }
            let keys = try MessageKeys(
                .open, salt: header.extracting(0..<saltCount), context: context, key: key)
            guard keys.isCommitted(by: header.extracting(saltCount..<headerCount)) else {
                throw corruption("the header does not belong to this key and context")
            }
            self.keys = keys
        }

        /// Decrypts one whole chunk with its tag; nothing is appended unless the tag is right.
        ///
        /// Chunk `n` stands at byte `56 + 16,400 * n` of the sealed message. Only the message's last chunk, and always
        /// that one, is shorter than 16,400 bytes: a reader proves the message's length by opening its last chunk.
        /// - Throws: `.corrupt`.
        public mutating func openChunk(
            _ sealedChunk: Span<UInt8>, number: UInt64, isLast: Bool, appendingTo output: inout [UInt8]
        ) throws(VaultError) {
            let lengthFits =
                isLast
                ? sealedChunk.count >= AES256GCM.tagCount && sealedChunk.count < sealedChunkCount
                : sealedChunk.count == sealedChunkCount
            guard lengthFits, number < maximalChunks else {
                throw corruption("chunk \(number) can't have \(sealedChunk.count) bytes")
            }
            keys.begin(chunk: number)
            guard keys.cipher.decrypt(sealedChunk, appendingTo: &output) else {
                throw corruption("chunk \(number) fails authentication")
            }
        }
    }

    static func corruption(_ problem: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: "encrypted message", remedy: "fetch the data again, or use the right key")
    }
}
