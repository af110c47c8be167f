import Glibc
import VaultBase
import VaultCrypto

// Answers one request a line on standard input, so that outside judges can question VaultCrypto: the operation's name
// and its arguments in hexadecimal ("-" for none), separated by spaces. The answer is "= " and the result's bytes, or
// "! " and the category of the failure.

while let line = readLine() {
    let words = line.split(separator: " ")
    guard let name = words.first, let operation = operations[String(name)] else {
        fatalError("unknown operation: \(line.prefix(40))")
    }
    do throws(VaultError) {
        print("=", hexadecimal(try operation(words.dropFirst().map(bytes))))
    } catch {
        print("!", error.category.rawValue)
    }
    // Into a pipe, print holds lines back.
    fflush(nil)
}

func bytes(_ word: Substring) -> [UInt8] {
    if word == "-" { return [] }
    let digits = word.utf8.map { digit in
        digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
    }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return text.isEmpty ? "-" : String(decoding: text, as: UTF8.self)
}
