import CVaultOpenSSL
public import VaultErrors

/// Random bytes that may be public, such as salts; use `SecretBytes(randomLength:)` for secrets.
public enum SecureRandom {
    /// Bytes from OpenSSL's generator, seeded by the system; `.unavailable` when it has none.
    public static func bytes(_ count: Int) throws(VaultError) -> [UInt8] {
        guard let count = Int32(exactly: count), count >= 0 else {
            throw VaultError(
                .usage, "\(count) random bytes can't be made at once", at: "random generator",
                remedy: "ask for fewer")
        }
        return try [UInt8](capacity: Int(count)) { output throws(VaultError) in
            try unsafe output.withUnsafeMutableBufferPointer { target, initialized throws(VaultError) in
                guard unsafe count == 0 || RAND_bytes(target.baseAddress, count) == 1 else {
                    throw VaultError(
                        .unavailable, "the system provides no random bytes", at: "random generator",
                        remedy: "check OpenSSL's installation")
                }
                initialized = Int(count)
            }
        }
    }
}
