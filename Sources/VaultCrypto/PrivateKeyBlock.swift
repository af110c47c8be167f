import CVaultOpenSSL
import VaultBase

/// A PEM block (RFC 7468) of a private key of any kind: its label and decoded DER.
///
/// OpenSSL's functions for PEM free copies of the text without erasing them.
struct PrivateKeyBlock: ~Copyable {
    /// One of OpenSSL's `PEM_STRING_` names, which gives the kind of key and whether it is encrypted.
    let label: String
    private let content: SecretBytes

    init(label: String, content: consuming SecretBytes) {
        self.label = label
        self.content = content
    }

    /// The text's first private key; nil if there is none. Other text is skipped. A key with headers of PEM's own encryption
    /// (RFC 1421) counts as none.
    init?(firstIn text: borrowing SecretBytes) {
        var label: String?
        let base64 = text.withBytes { bytes in
            SecretBytes(capacity: bytes.count) { Self.firstBase64(in: bytes, &label, into: &$0) }
        }
        guard let label, let content = SecretBytes(decoding: base64) else { return nil }
        self.init(label: label, content: content)
    }

    /// The characters of the first block, without line feeds; none where a block has no end.
    private static func firstBase64(
        in text: Span<UInt8>, _ label: inout String?, into characters: inout MutableSpan<UInt8>
    ) -> Int {
        var count = 0
        var start = 0
        while start < text.count {
            var end = start
            while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
            let line = text.extracting(start..<Self.lastCharacter(of: text, from: start, before: end))
            start = end + 1
            guard let label else {
                label = Self.label(in: line)
                continue
            }
            if line.equals(Array("-----END \(label)-----".utf8)) { return count }
            for index in line.indices {
                characters[count] = line[index]
                count += 1
            }
        }
        return 0
    }

    /// The end of a line without the spaces, tabs and carriage returns behind it.
    private static func lastCharacter(of text: Span<UInt8>, from start: Int, before end: Int) -> Int {
        var end = end
        while end > start, [0x20, 0x09, 0x0d].contains(text[end - 1]) { end -= 1 }
        return end
    }

    /// The label in the first line of a private key's block.
    private static func label(in line: Span<UInt8>) -> String? {
        let (start, end) = (Array("-----BEGIN ".utf8), Array("-----".utf8))
        guard line.count > start.count + end.count,
            line.extracting(first: start.count).equals(start),
            line.extracting(last: end.count).equals(end)
        else { return nil }
        let name = line.extracting(start.count..<line.count - end.count)
        let label = String(decoding: name.indices.map { name[$0] }, as: UTF8.self)
        return label.hasSuffix(PEM_STRING_PKCS8INF) ? label : nil
    }

    /// The block with lines of 64 characters.
    func text() -> SecretBytes {
        let (first, last) = (Array("-----BEGIN \(label)-----\n".utf8), Array("-----END \(label)-----\n".utf8))
        let base64 = content.base64()
        let lines = (base64.count + 63) / 64
        return SecretBytes(capacity: first.count + base64.count + lines + last.count) { text in
            var count = 0
            func append(_ byte: UInt8, to text: inout MutableSpan<UInt8>) {
                text[count] = byte
                count += 1
            }
            for byte in first { append(byte, to: &text) }
            base64.withBytes { base64 in
                for index in base64.indices {
                    append(base64[index], to: &text)
                    if index % 64 == 63 || index == base64.count - 1 { append(UInt8(ascii: "\n"), to: &text) }
                }
            }
            for byte in last { append(byte, to: &text) }
            return count
        }
    }

    /// The result of one of OpenSSL's `d2i_` functions, to be freed by the caller; nil if it fails.
    func decoded(
        with decode: (
            UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
        ) -> OpaquePointer?
    ) -> OpaquePointer? {
        defer { ERR_clear_error() }
        return unsafe content.withBytes { content in
            unsafe content.withUnsafeBufferPointer { content in
                var position = content.baseAddress
                return unsafe decode(nil, &position, content.count)
            }
        }
    }
}

extension SecretBytes {
    /// What base64 (RFC 4648, section 4) with its padding says; nil for anything else, and for nothing.
    fileprivate init?(decoding base64: borrowing SecretBytes) {
        let padding = base64.withBytes { text in
            text.extracting(last: 2).indices.count { text[text.count - 1 - $0] == UInt8(ascii: "=") }
        }
        guard let count = Int32(exactly: base64.count), count > 0 else { return nil }
        var decoded: Int32 = -1
        let bytes = SecretBytes(capacity: base64.count) { target in
            decoded = unsafe target.withUnsafeMutableBufferPointer { target in
                base64.withBytes { text in
                    unsafe text.withUnsafeBufferPointer {
                        unsafe EVP_DecodeBlock(target.baseAddress, $0.baseAddress, count)
                    }
                }
            }
            return max(0, Int(decoded) - padding)
        }
        ERR_clear_error()
        guard decoded > 0 else { return nil }
        self = bytes
    }

    fileprivate func base64() -> SecretBytes {
        guard let count = Int32(exactly: count) else { fatalError("too many bytes for one PEM block") }
        // The function ends its text by a zero.
        return SecretBytes(capacity: (self.count + 2) / 3 * 4 + 1) { target in
            let encoded = unsafe target.withUnsafeMutableBufferPointer { target in
                withBytes { bytes in
                    unsafe bytes.withUnsafeBufferPointer {
                        unsafe EVP_EncodeBlock(target.baseAddress, $0.baseAddress, count)
                    }
                }
            }
            return Int(encoded)
        }
    }
}
