/// A zip archive of stored entries built by the tests (APPNOTE.TXT 6.3.10).
struct HandmadeZip {
    private var contents: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    /// - Parameters:
    ///   - mode: The Unix mode with its type bits.
    ///   - isAlias: Stores no content, but refers to that of the first entry.
    mutating func add(
        _ name: [UInt8], _ content: [UInt8] = [], mode: Int = 0o100644, flags: Int = 0, isAlias: Bool = false
    ) {
        let checksum = Self.crc32(content)
        let common =
            number(flags, 2) + number(0, 2) + number(0, 4) + number(checksum, 4) + number(content.count, 4)
            + number(content.count, 4) + number(name.count, 2) + number(0, 2)
        directory += number(0x0201_4B50, 4) + number(3 << 8 | 20, 2) + number(20, 2) + common
        directory +=
            number(0, 2) + number(0, 2) + number(0, 2) + number(mode << 16, 4)
            + number(isAlias ? 0 : contents.count, 4)
        directory += name
        count += 1
        if isAlias { return }
        contents += number(0x0403_4B50, 4) + number(20, 2) + common + name + content
    }

    mutating func add(_ name: String, _ content: [UInt8] = [], mode: Int = 0o100644) {
        add(Array(name.utf8), content, mode: mode, flags: 0x800)
    }

    var finished: [UInt8] { finished(count: count) }

    /// - Parameter count: The number of entries that the end record states.
    func finished(count: Int) -> [UInt8] {
        contents + directory + number(0x0605_4B50, 4) + number(0, 4) + number(count, 2) + number(count, 2)
            + number(directory.count, 4) + number(contents.count, 4) + number(0, 2)
    }

    /// The same with zip64's end records, which alone locate the directory.
    var finishedZip64: [UInt8] {
        let end = contents.count + directory.count
        let record =
            number(0x0606_4B50, 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8)
            + number(count, 8)
            + number(count, 8) + number(directory.count, 8) + number(contents.count, 8)
        let locator = number(0x0706_4B50, 4) + number(0, 4) + number(end, 8) + number(1, 4)
        return contents + directory + record + locator + number(0x0605_4B50, 4) + number(0, 4)
            + number(0xFFFF, 2) + number(0xFFFF, 2) + number(0xFFFF_FFFF, 4) + number(0xFFFF_FFFF, 4)
            + number(0, 2)
    }

    private func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func crc32(_ bytes: [UInt8]) -> Int {
        var register: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
        return Int(~register)
    }
}
