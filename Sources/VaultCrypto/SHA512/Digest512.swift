/// A SHA-512 digest: 64 bytes, held inline.
///
/// Comparison takes the same time whatever the bytes are.
public struct Digest512: Sendable {
    public static let count = 2 * Digest.count

    /// The first and the last 32 bytes, which stand next to each other in memory.
    private var halves: (Digest, Digest)

    /// Nil unless there are exactly 64 bytes.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.count,
            let first = Digest(bytes.extracting(first: Digest.count)),
            let last = Digest(bytes.extracting(last: Digest.count))
        else { return nil }
        halves = (first, last)
    }

    /// Nil unless the text is exactly 128 lowercase hexadecimal digits.
    public init?(hex: String) {
        guard let first = Digest(hex: String(hex.prefix(2 * Digest.count))),
            let last = Digest(hex: String(hex.dropFirst(2 * Digest.count)))
        else { return nil }
        halves = (first, last)
    }

    /// Lets OpenSSL write the 64 bytes in place.
    init(writtenBy write: (UnsafeMutablePointer<UInt8>) -> Void) {
        halves = unsafe (Digest { _ in }, Digest { _ in })
        unsafe withUnsafeMutableBytes(of: &halves) { target in
            unsafe write(target.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
        }
    }

    public var bytes: [UInt8] { halves.0.bytes + halves.1.bytes }

    public func append(to output: inout [UInt8]) {
        halves.0.append(to: &output)
        halves.1.append(to: &output)
    }

    /// 128 lowercase hexadecimal digits.
    public var hex: String { halves.0.hex + halves.1.hex }
}

extension Digest512: Hashable {
    public static func == (a: Digest512, b: Digest512) -> Bool {
        // Both halves are compared before either result counts.
        let equal = [a.halves.0 == b.halves.0, a.halves.1 == b.halves.1]
        return !equal.contains(false)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(halves.0)
        hasher.combine(halves.1)
    }
}

extension Digest512: CustomStringConvertible {
    public var description: String { hex }
}
