import CVaultArchive
import Glibc
import VaultBase

/// A libarchive reader with exactly one format and at most one filter.
///
/// Every call must run inside `ThreadLocale.run`.
@safe final class ArchiveReader {
    enum Format {
        /// The content of one compressed stream; `filter` is libarchive's code.
        case raw(filter: Int32)
        case tar, zip, sevenZip
    }

    /// Bytes of an entry's content and their offset in it.
    @unsafe struct Block {
        let bytes: UnsafeRawBufferPointer
        let offset: Int64
    }

    private let archive: OpaquePointer
    private let format: Format
    fileprivate let source: any ByteSource
    let name: String
    /// The end of the last skipped entry in the source.
    private(set) var lastEntryEnd: UInt64 = 0
    /// Before `archive_read_open1` succeeds, libarchive's format pointer is invalid.
    private var isOpen = false
    /// The error of the source, as it can't be thrown through libarchive.
    fileprivate var failure: VaultError?

    /// - Parameter name: The archive's, for errors.
    init(_ format: Format, from source: any ByteSource, name: String) throws(VaultError) {
        guard let archive = unsafe archive_read_new() else {
            throw VaultError(.io, "there is not enough memory", at: name, remedy: "free some memory")
        }
        unsafe self.archive = archive
        self.format = format
        self.source = source
        self.name = name
        try require(unsafe Self.add(format, to: archive))
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        try require(unsafe archive_read_set_callback_data(archive, context))
        try require(unsafe archive_read_set_read_callback(archive, readNext))
        if source is FileSource {
            try require(unsafe archive_read_set_seek_callback(archive, seek))
        }
        try require(unsafe archive_read_open1(archive))
        isOpen = true
    }

    deinit {
        unsafe _ = archive_read_free(archive)
    }

    /// Bytes of the source consumed so far.
    var consumed: UInt64 { unsafe UInt64(clamping: archive_filter_bytes(archive, -1)) }

    /// The next entry; nil at the end.
    func nextEntry() throws(VaultError) -> ArchiveEntry? {
        var entry: OpaquePointer?
        let status = unsafe archive_read_next_header(archive, &entry)
        if status == ARCHIVE_EOF { return nil }
        guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let entry = unsafe entry else { throw error() }
        return unsafe ArchiveEntry(entry, warning: status == ARCHIVE_WARN ? warning : nil)
    }

    /// The next bytes of the entry, valid until the next call; nil at its end. Skips holes.
    func nextBlock() throws(VaultError) -> Block? {
        var start: UnsafeRawPointer?
        var count = 0
        var offset: Int64 = 0
        let status = unsafe archive_read_data_block(archive, &start, &count, &offset)
        if status == ARCHIVE_EOF { return nil }
        guard status == ARCHIVE_OK else { throw error() }
        return unsafe Block(bytes: UnsafeRawBufferPointer(start: start, count: count), offset: offset)
    }

    /// Skips to the end of the entry, including padding.
    func skipContent() throws(VaultError) {
        try require(unsafe archive_read_data_skip(archive))
        lastEntryEnd = consumed
    }

    func corrupt(_ problem: String) -> VaultError {
        VaultError(.corrupt, problem, at: name, remedy: "make the archive again")
    }
}

// MARK: Errors

extension ArchiveReader {
    private func require(_ status: Int32) throws(VaultError) {
        guard status == ARCHIVE_OK else { throw error() }
    }

    private var reason: String {
        guard let text = unsafe archive_error_string(archive) else { return "the archive can't be read" }
        return unsafe String(cString: text)
    }

    /// libarchive's warning about an entry.
    private var warning: ArchiveEntry.Warning? {
        // libarchive has no code for a name that it could not convert; its text ends like this.
        guard reason.hasSuffix("to current locale.") else { return .other(reason) }
        // Names in tar are used unconverted.
        return if case .tar = format { nil } else { .name }
    }

    private func error() -> VaultError {
        if let failure { return failure }
        if unsafe archive_errno(archive) == ENOMEM {
            return VaultError(.io, "there is not enough memory", at: name, remedy: "free some memory")
        }
        if isOpen, unsafe archive_read_has_encrypted_entries(archive) > 0 {
            return corrupt("the archive is encrypted")
        }
        // libarchive's errors before it has detected the format are useless.
        return switch (format, isOpen) {
        case (.raw, false): corrupt("the compressed data is damaged")
        case (.tar, false): corrupt("there is no tar archive in it")
        default: corrupt(reason)
        }
    }
}

// MARK: Setting up

extension ArchiveReader {
    private static func add(_ format: Format, to archive: OpaquePointer) -> Int32 {
        switch format {
        case .raw(let filter):
            let status = unsafe archive_read_support_format_raw(archive)
            return status == ARCHIVE_OK ? unsafe archive_read_append_filter(archive, filter) : status
        case .tar: return unsafe archive_read_support_format_tar(archive)
        case .zip: return unsafe archive_read_support_format_zip_seekable(archive)
        case .sevenZip: return unsafe archive_read_support_format_7zip(archive)
        }
    }
}

/// libarchive's callback for input.
private func readNext(
    _: OpaquePointer?, context: UnsafeMutableRawPointer?, block: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> Int {
    guard let context = unsafe context else { return Int(ARCHIVE_FATAL) }
    let reader = unsafe Unmanaged<ArchiveReader>.fromOpaque(context).takeUnretainedValue()
    do throws(VaultError) {
        let bytes = try unsafe reader.source.next()
        unsafe block?.pointee = bytes.baseAddress
        return bytes.count
    } catch {
        reader.failure = error
        return Int(ARCHIVE_FATAL)
    }
}

/// libarchive's callback for seeking, relative to the start or the end.
private func seek(
    _: OpaquePointer?, context: UnsafeMutableRawPointer?, offset: Int64, origin: Int32
) -> Int64 {
    guard let context = unsafe context else { return Int64(ARCHIVE_FATAL) }
    let reader = unsafe Unmanaged<ArchiveReader>.fromOpaque(context).takeUnretainedValue()
    guard let file = reader.source as? FileSource, origin != SEEK_CUR else { return Int64(ARCHIVE_FATAL) }
    do throws(VaultError) {
        guard let size = try file.size(), let end = Int64(exactly: size) else { return Int64(ARCHIVE_FATAL) }
        let (position, overflow) = (origin == SEEK_END ? end : 0).addingReportingOverflow(offset)
        guard !overflow, (0...end).contains(position) else { return Int64(ARCHIVE_FAILED) }
        file.seek(to: UInt64(position))
        return position
    } catch {
        reader.failure = error
        return Int64(ARCHIVE_FATAL)
    }
}
