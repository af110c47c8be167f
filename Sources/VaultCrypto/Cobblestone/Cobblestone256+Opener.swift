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
