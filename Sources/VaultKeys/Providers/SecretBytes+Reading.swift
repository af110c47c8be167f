import SystemPackage
import VaultCrypto
import VaultErrors
import VaultFileSystem

extension SecretBytes {
    /// Reads the rest of a file or pipe into secret memory only.
    ///
    /// - Throws: `.key` beyond ``KeyRing/byteLimit``; `.io`.
    init(readingAll file: borrowing OpenFile) throws(VaultError) {
        var text = SecretBytes(copying: Span())
        while true {
            let next = try SecretBytes(capacity: max(text.count, 4_096)) { (buffer) throws(VaultError) in
                try file.readNext(into: &buffer)
            }
            if next.count == 0 { break }
            text = try text.appending(next)
            guard text.count <= KeyRing.byteLimit else { throw .tooLarge(file.path.string) }
        }
        self = text
    }

    func appending(_ other: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
        try withBytes { (first) throws(VaultError) in
            try other.withBytes { (second) throws(VaultError) in
                try SecretBytes(capacity: first.count + second.count) { (buffer) throws(VaultError) in
                    for index in first.indices { buffer[index] = first[index] }
                    for index in second.indices { buffer[first.count + index] = second[index] }
                    return buffer.count
                }
            }
        }
    }
}

extension VaultError {
    static func tooLarge(_ place: String) -> VaultError {
        VaultError(
            .key, "is larger than 1 MiB, too large for a key ring", at: place,
            remedy: "check that it is the key ring")
    }

    /// Changes the category of file system errors to `key`.
    static func aboutKeys<Value: ~Copyable>(_ body: () throws(VaultError) -> Value) throws(VaultError)
        -> Value
    {
        do throws(VaultError) {
            return try body()
        } catch {
            throw VaultError(.key, error.problem, at: error.place, remedy: error.remedy, hint: error.hint)
        }
    }
}

extension SecretBytes {
    /// The first byte that is not JSON's white space; nil when there is none.
    var firstVisibleByte: UInt8? {
        withBytes { bytes in
            for index in bytes.indices where ![0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) {
                return bytes[index]
            }
            return nil
        }
    }
}
