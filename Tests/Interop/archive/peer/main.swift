// The other side of the tests in this folder.
//
//     archive-peer list FOLDER            one line an entry: kind, size, path
//     archive-peer unpack ARCHIVE FOLDER  ARCHIVE may be "-"
//     archive-peer pax FOLDER             a tar archive on standard output
//     archive-peer compress LEVEL         standard input to output
//     archive-peer decompress COUNT
//
// A failure is one line on standard error, "CATEGORY: text", and exit code 1.

import Glibc
import SealedPack
import SystemPackage
import VaultAuthoring
import VaultBase
import VaultFileSystem

func readAll() throws(VaultError) -> [UInt8] {
    let input = OpenFile(takingOwnershipOf: 0, named: "standard input")
    var (all, next): ([UInt8], [UInt8]) = ([], [])
    while try input.readNext(into: &next, upTo: 1 << 20) > 0 { all += next }
    return all
}

func list(_ folder: FilePath) throws(VaultError) {
    let source = try SourceFolder(scanning: folder)
    for entry in source.entries { print("\(entry.kind) \(entry.size) \(entry.path.string)") }
}

func pax(_ folder: FilePath) throws(VaultError) {
    let source = try SourceFolder(scanning: folder)
    var writer = try PaxWriter(to: OpenFile(takingOwnershipOf: 1, named: "standard output"))
    var files = try SourceReader(of: source)
    for entry in source.entries {
        switch entry.kind {
        case .emptyFolder:
            try writer.folder(entry.path)
        case .file(let executable):
            try writer.beginFile(entry.path, size: entry.size, executable: executable)
            let file = try files.open(entry)
            var bytes: [UInt8] = []
            while try file.readNext(into: &bytes, upTo: 1 << 20) > 0 { try writer.write(bytes.span) }
        }
    }
    try writer.finish()
}

func unpack(_ archive: String, into folder: FilePath) throws(VaultError) {
    if archive == "-" {
        try ArchiveUnpacking.unpack(stream: OpenFile(takingOwnershipOf: 0, named: "-"), into: folder)
    } else {
        try ArchiveUnpacking.unpack(FilePath(archive), into: folder)
    }
}

func write(_ bytes: [UInt8]) throws(VaultError) {
    try OpenFile(takingOwnershipOf: 1, named: "standard output").writeNext(bytes.span)
}

func run(_ arguments: [String]) throws(VaultError) {
    switch (arguments.first, arguments.count) {
    case ("list", 2): try list(FilePath(arguments[1]))
    case ("unpack", 3): try unpack(arguments[1], into: FilePath(arguments[2]))
    case ("pax", 2): try pax(FilePath(arguments[1]))
    case ("compress", 2):
        let content = try readAll()
        var frame: [UInt8] = []
        let isSmaller = try Zstd.compress(content.span, level: Int(arguments[1]) ?? 3, appendingTo: &frame)
        if isSmaller { try write(frame) }
    case ("decompress", 2):
        let frame = try readAll()
        try write(try Zstd.decompress(frame.span, exactly: Int(arguments[1]) ?? 0))
    default:
        throw VaultError(.usage, "no such task", at: "archive-peer", remedy: "see the source")
    }
}

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    try? OpenFile(takingOwnershipOf: 2, named: "standard error").writeNext(bytes.span)
}

do throws(VaultError) {
    try run(Array(CommandLine.arguments.dropFirst()))
} catch {
    say("\(error.category.rawValue): \(error)")
    exit(1)
}
