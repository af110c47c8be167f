import CVaultArchive
import Glibc
import SystemPackage
public import VaultBase
public import VaultFileSystem

/// Writes a pax tar archive (POSIX.1-2001) to a file or pipe.
///
/// Deterministic: no times, owner 0, modes 0755 and 0644. Extended headers only where a path or size does not fit a
/// ustar header.
@safe public struct PaxWriter: ~Copyable {
    private let archive: OpaquePointer
    private let output: Output
    /// Bytes of the current file that are not written yet.
    private var remaining: UInt64 = 0

    /// The output of libarchive.
    fileprivate final class Output {
        let file: OpenFile
        /// The error of the file, as it can't be thrown through libarchive.
        var failure: VaultError?
        /// Discards libarchive's final output, which would make an incomplete archive look complete.
        var isAbandoned = false

        init(_ file: consuming OpenFile) {
            self.file = file
        }
    }

    /// - Throws: `.io` when memory runs out.
    public init(to file: consuming OpenFile) throws(VaultError) {
        let output = Output(file)
        unsafe archive = try ThreadLocale.utf8.run { () throws(VaultError) in try unsafe Self.open(output) }
        self.output = output
    }

    deinit {
        output.isAbandoned = true
        // Without the locale there never was an archive.
        try? ThreadLocale.utf8.run { unsafe _ = archive_write_free(archive) }
    }

    /// Adds a folder.
    ///
    /// - Throws: `.io` if writing fails, `.corrupt` if the file before is not complete.
    public mutating func folder(_ path: EntryPath) throws(VaultError) {
        try begin(path, type: cvault_file_type_folder, permissions: 0o755, size: 0)
    }

    /// Begins a file, whose bytes, exactly `size`, must follow.
    ///
    /// - Throws: `.io` if writing fails, `.corrupt` if the file before is not complete.
    public mutating func beginFile(
        _ path: EntryPath, size: UInt64, executable: Bool
    ) throws(VaultError) {
        try begin(path, type: cvault_file_type_regular, permissions: executable ? 0o755 : 0o644, size: size)
        remaining = size
    }

    /// Adds the next bytes of the file that was begun.
    ///
    /// - Throws: `.io` if writing fails, `.corrupt` if they are more than declared.
    public mutating func write(_ bytes: Span<UInt8>) throws(VaultError) {
        guard bytes.count <= remaining else { throw wrongSize("more") }
        var rest = bytes
        while !rest.isEmpty {
            let written = try ThreadLocale.utf8.run { () throws(VaultError) in
                unsafe rest.withUnsafeBytes { unsafe archive_write_data(archive, $0.baseAddress, $0.count) }
            }
            guard written > 0 else { throw error() }
            rest = rest.extracting(droppingFirst: written)
        }
        remaining -= UInt64(bytes.count)
    }

    /// Writes the end of the archive, without which the output is detectably truncated.
    ///
    /// - Throws: `.io` if writing fails, `.corrupt` if the last file is not complete.
    public consuming func finish() throws(VaultError) {
        guard remaining == 0 else { throw wrongSize("fewer") }
        try require(try ThreadLocale.utf8.run { unsafe archive_write_close(archive) })
    }
}

// MARK: Steps

extension PaxWriter {
    private mutating func begin(
        _ path: EntryPath, type: UInt32, permissions: mode_t, size: UInt64
    ) throws(VaultError) {
        guard remaining == 0 else { throw wrongSize("fewer") }
        let status = try ThreadLocale.utf8.run { () throws(VaultError) in
            guard let entry = unsafe archive_entry_new() else { return ARCHIVE_FATAL }
            defer { unsafe archive_entry_free(entry) }
            unsafe archive_entry_copy_pathname(entry, path.string)
            unsafe archive_entry_set_filetype(entry, type)
            unsafe archive_entry_set_perm(entry, permissions)
            unsafe archive_entry_set_size(entry, Int64(clamping: size))
            unsafe archive_entry_set_mtime(entry, 0, 0)
            unsafe archive_entry_set_uid(entry, 0)
            unsafe archive_entry_set_gid(entry, 0)
            return unsafe archive_write_header(archive, entry)
        }
        try require(status)
    }

    private static func open(_ output: Output) throws(VaultError) -> OpaquePointer {
        let failure = VaultError(
            .io, "there is not enough memory", at: output.file.path.string, remedy: "free some memory")
        guard let archive = unsafe archive_write_new() else { throw failure }
        let context = unsafe Unmanaged.passUnretained(output).toOpaque()
        guard unsafe archive_write_set_format_pax_restricted(archive) == ARCHIVE_OK,
            // Records of 10,240 bytes, as tar requires, 25 a write.
            unsafe archive_write_set_bytes_per_block(archive, 25 * 10_240) == ARCHIVE_OK,
            unsafe archive_write_set_bytes_in_last_block(archive, 10_240) == ARCHIVE_OK,
            unsafe archive_write_open2(archive, context, nil, writeNext, nil, nil) == ARCHIVE_OK
        else {
            unsafe _ = archive_write_free(archive)
            throw failure
        }
        return unsafe archive
    }

    private func require(_ status: Int32) throws(VaultError) {
        guard status == ARCHIVE_OK else { throw error() }
    }

    private func error() -> VaultError {
        let reason = unsafe archive_error_string(archive).map { unsafe String(cString: $0) }
        return output.failure
            ?? VaultError(
                .io, reason ?? "the archive can't be written", at: output.file.path.string,
                remedy: "check the output")
    }

    private func wrongSize(_ than: String) -> VaultError {
        VaultError(
            .corrupt, "a file has \(than) bytes than were declared", at: output.file.path.string,
            remedy: "check the source of the file")
    }
}

/// libarchive's callback for output.
private func writeNext(
    _: OpaquePointer?, context: UnsafeMutableRawPointer?, start: UnsafeRawPointer?, count: Int
) -> Int {
    guard let context = unsafe context else { return -1 }
    let output = unsafe Unmanaged<PaxWriter.Output>.fromOpaque(context).takeUnretainedValue()
    if output.isAbandoned { return count }
    do throws(VaultError) {
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        try unsafe output.file.writeNext(bytes.bindMemory(to: UInt8.self).span)
        return count
    } catch {
        output.failure = error
        return -1
    }
}

/// The character set for every call of libarchive.
///
/// libarchive converts names by the thread's locale. Where `LANG` is unset, as under cron and systemd, non-ASCII names
/// in zip and 7z are null and its pax writer crashes. A library must not change the process's locale, so the calling
/// thread's is changed and restored.
package enum ThreadLocale {
    /// For everything but reading tar.
    case utf8
    /// For reading tar: libarchive returns names that it can't convert unchanged, but normalises others to NFC, so that
    /// an archive would differ from its folder.
    case bytes

    // Created once, never freed or changed.
    nonisolated(unsafe) private static let utf8Locale: locale_t? = unsafe cvault_locale("C.UTF-8")
    nonisolated(unsafe) private static let byteLocale: locale_t? = unsafe cvault_locale("C")

    /// Runs `body` under this character set.
    package func run<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard let locale = unsafe self == .utf8 ? Self.utf8Locale : Self.byteLocale else {
            throw VaultError(
                .io, "the locale C.UTF-8 is missing", at: "libarchive",
                remedy: "install it (on Debian it is part of libc-bin)")
        }
        let previous = unsafe uselocale(locale)
        defer { unsafe _ = uselocale(previous) }
        return try body()
    }
}
