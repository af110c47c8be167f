import VaultBytes
import VaultErrors
import VaultFileSystem

/// The formats of programs and libraries for a processor, by their first bytes. Scripts and web pages are not detected.
public enum ExecutableFormat: String, Sendable {
    /// Linux, Android and consoles.
    case elf = "ELF"
    /// Apple's platforms, for one processor or several.
    case machO = "Mach-O"
    /// Windows.
    case portableExecutable = "PE"

    /// Files shorter than this are not examined.
    static let minimumSize: UInt64 = 64

    init?(of file: borrowing OpenFile) throws(VaultError) {
        var start: [UInt8] = []
        guard try file.read(into: &start, upTo: Int(Self.minimumSize), at: 0) == Int(Self.minimumSize) else {
            return nil
        }
        switch Array(start.prefix(4)) {
        case [0x7F, 0x45, 0x4C, 0x46]: self = .elf
        case [0xCF, 0xFA, 0xED, 0xFE], [0xCE, 0xFA, 0xED, 0xFE], [0xFE, 0xED, 0xFA, 0xCF],
            [0xFE, 0xED, 0xFA, 0xCE], [0xCA, 0xFE, 0xBA, 0xBF]:
            self = .machO
        // Java class files share this magic number; bytes 4 to 7 are then a class version (45 or more) instead of an
        // architecture count.
        case [0xCA, 0xFE, 0xBA, 0xBE] where start[4..<7].allSatisfy { $0 == 0 } && start[7] < 45:
            self = .machO
        case _ where start.starts(with: "MZ".utf8):
            let offset = start[0x3C..<0x40].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            var signature: [UInt8] = []
            _ = try file.read(into: &signature, upTo: 4, at: offset)
            guard signature.elementsEqual("PE\0\0".utf8) else { return nil }
            self = .portableExecutable
        default: return nil
        }
    }
}
