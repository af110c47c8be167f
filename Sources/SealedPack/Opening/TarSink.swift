import VaultContent
public import VaultErrors
public import VaultFileSystem

/// Writes entries as a pax tar (POSIX.1-2001) to a file or a pipe.
public struct TarSink: ContentSink, ~Copyable {
    private var writer: PaxWriter

    public init(to output: consuming OpenFile) throws(VaultError) {
        writer = try PaxWriter(to: output)
    }

    public mutating func beginEntry(_ entry: Catalog.Entry) throws(VaultError) {
        switch entry.kind {
        case .emptyFolder: try writer.folder(entry.path)
        case .file: try writer.beginFile(entry.path, size: entry.size, executable: false)
        case .executable: try writer.beginFile(entry.path, size: entry.size, executable: true)
        }
    }

    public mutating func write(_ bytes: Span<UInt8>) throws(VaultError) {
        try writer.write(bytes)
    }

    public mutating func endEntry() {}

    /// Writes the end of the archive.
    public consuming func finish() throws(VaultError) {
        try writer.finish()
    }
}
