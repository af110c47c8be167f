import CVaultArchive
import SealedPack
public import SystemPackage
public import VaultBase
public import VaultFileSystem

/// Unpacks untrusted archives: zip, 7z, and tar, plain or compressed by gzip, bzip2, xz or zstd.
///
/// Accepts only regular files and folders, by the rules of `EntryPath`. Refuses, by name, all other kinds, encrypted
/// entries, and paths that are equal, or equal without letter case or normalisation; refuses truncated archives and
/// bytes after their end. Memory does not grow with the files, but the archive determines the decompressor's window.
///
/// Two limitations of libarchive 3.6 remain: it normalises names in 7z to NFC (not those in zip and tar), and it does
/// not verify gzip's checksum.
public enum ArchiveUnpacking {
    /// Archives with more entries are refused.
    public static let maximumEntryCount = 1 << 22

    /// Unpacks a file into an empty folder, whose content is useless if this throws.
    ///
    /// - Parameter filter: Selects the files of the result; every entry is unpacked and checked.
    /// - Returns: The unpacked folder, scanned.
    /// - Throws: `.corrupt`, naming the entry, `.missing` if there is no such file, `.limit` for more than it may
    ///   unpack to, `.io`.
    @discardableResult
    public static func unpack(
        _ archive: FilePath, into folder: FilePath, filter: SourceFilter = .all,
        limit: UnpackingLimit = .standard
    ) throws(VaultError) -> SourceFolder {
        try unpack(
            FileSource(OpenFile(reading: archive), isStream: false), into: folder, filter: filter,
            limit: limit)
    }

    /// Unpacks a tar archive from a stream, such as standard input, into an empty folder.
    ///
    /// - Parameter filter: Selects the files of the result; every entry is unpacked and checked.
    /// - Returns: The unpacked folder, scanned.
    /// - Throws: `.corrupt`, naming the entry, `.usage` for zip and 7z, which need a file, `.limit` for more
    ///   than it may unpack to, `.io`.
    @discardableResult
    public static func unpack(
        stream: consuming OpenFile, into folder: FilePath, filter: SourceFilter = .all,
        limit: UnpackingLimit = .standard
    ) throws(VaultError) -> SourceFolder {
        try unpack(FileSource(stream, isStream: true), into: folder, filter: filter, limit: limit)
    }

    private static func unpack(
        _ source: FileSource, into folder: FilePath, filter: SourceFilter, limit: UnpackingLimit
    ) throws(VaultError) -> SourceFolder {
        let target = UnpackingTarget(
            in: try Folder(opening: folder), size: UnpackedByteCounter(of: source, limit: limit))
        let start = try source.firstBytes(ArchiveKind.detectionByteCount)
        switch ArchiveKind(firstBytes: start.span) {
        case .tar(let filter): try unpackTar(source, filter: filter, into: target)
        case .zip: try unpackZip(source, into: target)
        case .sevenZip: try unpackSevenZip(source, into: target)
        case nil:
            throw VaultError(
                .corrupt, "unsupported archive format", at: source.name,
                remedy: "give a folder, zip, 7z, or tar, plain or with gzip, bzip2, xz or zstd")
        }
        return try SourceFolder(scanning: folder, filter: filter, followLinks: false, named: source.name)
    }
}

// MARK: The formats

extension ArchiveUnpacking {
    private static func unpackTar(
        _ source: FileSource, filter: Int32?, into target: borrowing UnpackingTarget
    ) throws(VaultError) {
        try ThreadLocale.bytes.run { () throws(VaultError) in
            let content: any ByteSource =
                if let filter { try DecompressedSource(source, filter: filter) } else { source }
            let tar = TarSource(content)
            let reader = try ArchiveReader(.tar, from: tar, name: source.name)
            try unpackEntries(of: reader, into: target)
            // libarchive accepts the end of its input instead of the archive's end marker.
            guard reader.consumed > reader.lastEntryEnd else {
                throw reader.corrupt("the archive is cut short")
            }
            guard try tar.hasOnlyZeros(after: reader.consumed) else {
                throw reader.corrupt("extra bytes follow the end of the archive")
            }
        }
    }

    private static func unpackZip(
        _ source: FileSource, into target: borrowing UnpackingTarget
    ) throws(VaultError) {
        let directory = try ZipDirectory(of: source)
        if directory.isEmpty { return }
        try ThreadLocale.utf8.run { () throws(VaultError) in
            let reader = try ArchiveReader(.zip, from: source, name: source.name)
            try unpackEntries(of: reader, listedIn: directory, into: target)
        }
    }

    private static func unpackSevenZip(
        _ source: FileSource, into target: borrowing UnpackingTarget
    ) throws(VaultError) {
        try SevenZipEnd.check(source)
        try ThreadLocale.utf8.run { () throws(VaultError) in
            try unpackEntries(of: ArchiveReader(.sevenZip, from: source, name: source.name), into: target)
        }
    }
}

// MARK: The entries

extension ArchiveUnpacking {
    private static func unpackEntries(
        of reader: ArchiveReader, listedIn directory: ZipDirectory? = nil,
        into target: borrowing UnpackingTarget
    ) throws(VaultError) {
        var count = 0
        while var entry = try reader.nextEntry() {
            guard count < maximumEntryCount else {
                throw reader.corrupt("the archive has more than 4,194,304 entries")
            }
            if let directory { entry.path = try directory.path(at: count) }
            count += 1
            do throws(VaultError) {
                try unpack(entry, of: reader, into: target)
            } catch {
                let place = error.place.hasPrefix("entry ") ? "\(reader.name): \(error.place)" : error.place
                throw error.with(at: place)
            }
        }
        try directory?.checkCount(count)
    }

    private static func unpack(
        _ entry: ArchiveEntry, of reader: ArchiveReader, into target: borrowing UnpackingTarget
    ) throws(VaultError) {
        if let path = try entry.checkedPath() {
            if case .file(let executable) = entry.kind {
                let file = try target.makeFile(path, executable: executable)
                try unpackContent(of: entry, at: path, of: reader, into: file, counting: target.size)
            } else {
                try target.makeFolder(path)
            }
        }
        try reader.skipContent()
    }

    /// Writes an entry's content and keeps its holes.
    private static func unpackContent(
        of entry: ArchiveEntry, at path: EntryPath, of reader: ArchiveReader, into file: borrowing OpenFile,
        counting total: UnpackedByteCounter
    ) throws(VaultError) {
        func wrongSize() -> VaultError {
            VaultError(
                .corrupt, "has another size than the archive states", at: "entry '\(path)'",
                remedy: "make the archive again")
        }
        var end: Int64 = 0
        while let block = try unsafe reader.nextBlock() {
            let (blockEnd, overflow) = unsafe block.offset.addingReportingOverflow(Int64(block.bytes.count))
            guard !overflow, unsafe block.offset >= end, blockEnd <= entry.size ?? .max else {
                throw wrongSize()
            }
            try total.add(blockEnd - end)
            try unsafe file.write(block.bytes.bindMemory(to: UInt8.self).span, at: UInt64(block.offset))
            end = blockEnd
        }
        guard let size = entry.size, size != end else { return }
        // Missing bytes are a hole at the end, as libarchive reports truncated content.
        guard size > end else { throw wrongSize() }
        try total.add(size - end)
        try file.truncate(to: UInt64(size))
    }
}
