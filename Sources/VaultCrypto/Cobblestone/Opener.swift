public import VaultErrors

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
            guard header.count == headerCount else {
                throw corruption("the header has \(header.count) bytes")
            }
            let salt = header.extracting(0..<saltCount)
            let keys = try MessageKeys(.open, salt: salt, context: context, key: key, hash: hash)
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

        /// Decrypts the whole sealed message, whose header made this value; nothing stays appended unless every tag is
        /// right.
        package mutating func openWhole(
            _ sealed: Span<UInt8>, appendingTo output: inout [UInt8]
        ) throws(VaultError) {
            guard let messageCount = messageCount(ofSealed: UInt64(sealed.count)) else {
                throw corruption(
                    "no message is sealed to \(sealed.count) bytes, so it was cut off or changed")
            }
            let before = output.count
            output.reserveCapacity(before + Int(messageCount))
            do throws(VaultError) {
                var position = headerCount
                var number: UInt64 = 0
                while position < sealed.count {
                    let end = min(position + sealedChunkCount, sealed.count)
                    try openChunk(
                        sealed.extracting(position..<end), number: number,
                        isLast: end - position < sealedChunkCount, appendingTo: &output)
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
