import Glibc
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

    /// A file that only its owner may read.
    ///
    /// - Parameter what: the content, for errors.
    init(ofPrivateFile path: FilePath, _ what: String) throws(VaultError) {
        self = try VaultError.aboutKeys { () throws(VaultError) in
            let file = try OpenFile(reading: path)
            guard try file.status().permissions & 0o077 == 0 else {
                throw VaultError(
                    .key, "\(what) can be read by others", at: path.string, remedy: "run: chmod 600 \(path)")
            }
            return try SecretBytes(readingAll: file)
        }
    }

    /// Throws `.key` for a variable that is absent or empty.
    init(ofVariable name: String, remedy: String) throws(VaultError) {
        guard let value = ProcessEnvironment.withValue(of: name, { SecretBytes(copying: $0) }),
            value.count > 0
        else { throw VaultError(.key, "is not set", at: "environment variable \(name)", remedy: remedy) }
        self = value
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

extension OpenFile {
    /// An inherited descriptor's duplicate; the caller closes its own one. Throws `.key` when it is not open.
    init(duplicating descriptor: Int32, remedy: String) throws(VaultError) {
        let name = "file descriptor \(descriptor)"
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw VaultError(.key, "is not open", at: name, remedy: remedy) }
        self.init(takingOwnershipOf: duplicate, named: FilePath(name))
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
