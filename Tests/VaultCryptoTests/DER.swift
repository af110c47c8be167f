import Foundation

/// A minimal DER encoder (X.690) for unusual keys and signatures.
enum DER {
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count: [UInt8] =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xff)]
            }
        return [tag] + count + content
    }

    /// SubjectPublicKeyInfo (RFC 5280) around an AlgorithmIdentifier in DER and the key's bytes.
    static func publicKey(algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        value(0x30, algorithm + value(0x03, [0] + key))
    }

    /// An RSA key with the exponent 65,537 and an odd modulus of so many bits, of unknown factors.
    static func rsa(bits: Int) -> [UInt8] {
        var modulus = message((bits + 7) / 8)
        let top = UInt8(1) << ((bits - 1) % 8)
        modulus[0] = modulus[0] & (top - 1) | top
        modulus[modulus.count - 1] |= 1
        if top == 0x80 { modulus.insert(0, at: 0) }
        let key = value(0x30, value(0x02, modulus) + value(0x02, [1, 0, 1]))
        return publicKey(algorithm: hex("300d06092a864886f70d0101010500"), key)
    }

    /// The bytes in a PEM public key.
    static func decoded(pem: String) -> [UInt8] {
        let lines = pem.split(separator: "\n").dropFirst().dropLast()
        return Array(Data(base64Encoded: lines.joined()) ?? Data())
    }

    static func pem(_ bytes: [UInt8], width: Int = 64, lineEnd: String = "\n") -> String {
        let text = Array(Data(bytes).base64EncodedString())
        let lines = stride(from: 0, to: text.count, by: width)
            .map { String(text[$0..<min($0 + width, text.count)]) }
        let all = ["-----BEGIN PUBLIC KEY-----"] + lines + ["-----END PUBLIC KEY-----"]
        return all.map { $0 + lineEnd }.joined()
    }
}
