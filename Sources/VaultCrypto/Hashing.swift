import CVaultOpenSSL
import VaultBase

/// SHA-256 (FIPS 180-4) of a message in parts; after `finalize()` it begins the next message.
public struct SHA256: ~Copyable, Sendable {
    private var context = HashContext(.sha256)

    public init() {}

    public mutating func update(_ bytes: Span<UInt8>) {
        context.update(bytes)
    }

    /// The digest of the bytes since the start or the last call.
    public mutating func finalize() -> SHA256Digest {
        unsafe SHA256Digest { target in unsafe context.finalize(into: target) }
    }

    public static func hash(_ message: Span<UInt8>) -> SHA256Digest {
        var hash = SHA256()
        hash.update(message)
        return hash.finalize()
    }
}

/// A SHA-256 digest or an HMAC-SHA-256 tag: 32 bytes, stored inline.
///
/// Comparison takes constant time, so tags can be compared directly.
public struct SHA256Digest: Sendable {
    public static let count = 32

    /// The bytes in their order in memory, whatever the machine's endianness.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Nil unless there are exactly 32 bytes.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        unsafe withUnsafeMutableBytes(of: &words) { target in
            for index in 0..<Self.count { unsafe target[index] = bytes[index] }
        }
    }

    /// Nil unless the text is exactly 64 lowercase hexadecimal digits.
    public init?(hex: String) {
        guard !hex.utf8.contains(where: { $0 < UInt8(ascii: "a") && $0 > UInt8(ascii: "9") }),
            let bytes = Hexadecimal.decode(hex)
        else { return nil }
        self.init(bytes.span)
    }

    /// Lets OpenSSL write the 32 bytes in place.
    init(writtenBy write: (UnsafeMutablePointer<UInt8>) -> Void) {
        unsafe withUnsafeMutableBytes(of: &words) { target in
            unsafe write(target.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
        }
    }

    public var bytes: [UInt8] {
        unsafe withUnsafeBytes(of: words) { unsafe [UInt8]($0) }
    }

    /// The first 8 bytes as a number, a short table key: different digests may share it.
    public var prefix: UInt64 { UInt64(bigEndian: words.0) }

    public func append(to output: inout [UInt8]) {
        unsafe withUnsafeBytes(of: words) { unsafe output.append(contentsOf: $0) }
    }

    /// 64 lowercase hexadecimal digits.
    public var hex: String { Hexadecimal.encode(bytes) }
}

extension SHA256Digest: Hashable {
    public static func == (a: SHA256Digest, b: SHA256Digest) -> Bool {
        (a.words.0 ^ b.words.0) | (a.words.1 ^ b.words.1) | (a.words.2 ^ b.words.2) | (a.words.3 ^ b.words.3)
            == 0
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

extension SHA256Digest: CustomStringConvertible {
    public var description: String { hex }
}

/// SHA-512 (FIPS 180-4).
public enum SHA512 {
    public static func hash(_ message: Span<UInt8>) -> SHA512Digest {
        var context = HashContext(.sha512)
        context.update(message)
        return unsafe SHA512Digest { target in unsafe context.finalize(into: target) }
    }
}

/// A SHA-512 digest: 64 bytes, stored inline.
public struct SHA512Digest: Sendable, Hashable {
    /// The two halves. Each is stored inline, so together they are 64 adjacent bytes, which OpenSSL writes at once.
    private var first, last: SHA256Digest

    /// Nil unless the text is exactly 128 lowercase hexadecimal digits.
    public init?(hex: String) {
        guard let first = SHA256Digest(hex: String(hex.prefix(2 * SHA256Digest.count))),
            let last = SHA256Digest(hex: String(hex.dropFirst(2 * SHA256Digest.count)))
        else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// Lets OpenSSL write the 64 bytes in place.
    init(writtenBy write: (UnsafeMutablePointer<UInt8>) -> Void) {
        (first, last) = unsafe (SHA256Digest { _ in }, SHA256Digest { _ in })
        unsafe withUnsafeMutableBytes(of: &self) { target in
            unsafe write(target.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
        }
    }

    public var bytes: [UInt8] { first.bytes + last.bytes }

    /// 128 lowercase hexadecimal digits.
    public var hex: String { first.hex + last.hex }
}

/// A hash of a message in parts; after `finalize(into:)` it begins the next message.
@safe
struct HashContext: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer
    private let algorithm: Algorithm

    /// - Parameter algorithm: `sha256` or `sha512`.
    init(_ algorithm: Algorithm) {
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("out of memory") }
        unsafe self.context = context
        self.algorithm = algorithm
        begin()
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe require(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "hashing")
        }
    }

    /// Writes the digest, 32 or 64 bytes.
    mutating func finalize(into target: UnsafeMutablePointer<UInt8>) {
        unsafe require(EVP_DigestFinal_ex(context, target, nil) == 1, "hashing")
        begin()
    }

    private func begin() {
        unsafe require(EVP_DigestInit_ex2(context, algorithm.pointer, nil) == 1, "hashing")
    }
}

/// An algorithm of OpenSSL, fetched once, as an implicit fetch at each use costs more than hashing a short message.
@safe
struct Algorithm: @unchecked Sendable {
    /// An `EVP_MD`, an `EVP_CIPHER` or a keyless `EVP_MAC_CTX`; never changed, never freed.
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer?, _ name: StaticString) {
        guard let pointer = unsafe pointer else {
            fatalError("OpenSSL's configuration on this machine offers no \(name)")
        }
        unsafe self.pointer = pointer
    }

    static let sha256 = unsafe Algorithm(EVP_MD_fetch(nil, "SHA256", nil), "SHA-256")
    static let sha384 = unsafe Algorithm(EVP_MD_fetch(nil, "SHA384", nil), "SHA-384")
    static let sha512 = unsafe Algorithm(EVP_MD_fetch(nil, "SHA512", nil), "SHA-512")
    static let aes128CBC = cipher("AES-128-CBC")
    static let aes192CBC = cipher("AES-192-CBC")
    static let aes256CBC = cipher("AES-256-CBC")
    static let aes128GCM = cipher("AES-128-GCM")
    static let aes192GCM = cipher("AES-192-GCM")
    static let aes256GCM = cipher("AES-256-GCM")
    static let aes128Wrap = cipher("AES-128-WRAP")
    static let aes192Wrap = cipher("AES-192-WRAP")
    static let aes256Wrap = cipher("AES-256-WRAP")
    static let hmacSHA256 = unsafe Algorithm(vault_hmac_new("SHA256"), "HMAC-SHA-256")
    static let hmacSHA384 = unsafe Algorithm(vault_hmac_new("SHA384"), "HMAC-SHA-384")
    static let hmacSHA512 = unsafe Algorithm(vault_hmac_new("SHA512"), "HMAC-SHA-512")

    private static func cipher(_ name: StaticString) -> Algorithm {
        unsafe Algorithm(EVP_CIPHER_fetch(nil, "\(name)", nil), name)
    }
}

/// Ends the process when OpenSSL fails and only lack of memory or a broken installation can be the cause.
func require(_ succeeded: Bool, _ operation: StaticString) {
    guard succeeded else { fatalError("OpenSSL failed at \(operation): out of memory or badly installed") }
}
