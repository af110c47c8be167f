import VaultArchive
public import VaultErrors
import VaultFileSystem

/// Writes entries as a pax tar (POSIX.1-2001) to a file or a pipe.
public struct TarSink: ContentSink, ~Copyable {
    private var writer: PaxWriter

    public init(to output: OpenFileReference) throws(VaultError) {
        writer = try PaxWriter(to: output.file)
    }

    public mutating func beginEntry(_ entry: Catalog.Entry) throws(VaultError) {
        switch entry.kind {
        case .emptyFolder: try writer.addFolder(entry.path)
        case .file: try writer.beginFile(entry.path, size: entry.size, isExecutable: false)
        case .executable: try writer.beginFile(entry.path, size: entry.size, isExecutable: true)
        }
    }

    public mutating func write(_ bytes: Span<UInt8>) throws(VaultError) {
        try writer.write(bytes)
    }

    public mutating func endEntry() throws(VaultError) {
        try writer.endEntry()
    }

    /// Writes the end of the archive.
    public consuming func finish() throws(VaultError) {
        try writer.finish()
    }
}
