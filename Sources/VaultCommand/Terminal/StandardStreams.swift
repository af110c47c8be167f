import SystemPackage
import VaultErrors
import VaultFileSystem

/// The streams of this process, for `-`.
enum StandardStreams {
    static func output() throws(VaultError) -> OpenFile {
        try OpenFile(duplicating: 1, named: "standard output")
    }

    static func input() throws(VaultError) -> OpenFile {
        try OpenFile(duplicating: 0, named: "standard input")
    }
}
