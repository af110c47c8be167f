import CVaultArchive
import Glibc
import VaultErrors

/// What an archive says of one entry, as far as it matters here.
struct ArchiveEntry {
    enum Kind {
        case file(executable: Bool)
        case folder
        /// Something that can't be packed: "a symbolic link".
        case other(String)
    }

    /// The raw path; nil if the archive's own encoding can't be turned into UTF-8.
    let path: [UInt8]?
    let kind: Kind
    /// Bytes of content, nil where the archive says it only afterwards.
    let size: Int64?
    let isEncrypted: Bool
    /// What libarchive minded.
    let warning: String?

    init(_ entry: OpaquePointer, warning: String?) {
        if let text = unsafe archive_entry_pathname(entry) {
            path = unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
        } else {
            path = nil
        }
        kind = unsafe Self.kind(of: entry)
        size = unsafe archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : nil
        isEncrypted = unsafe archive_entry_is_encrypted(entry) != 0
        self.warning = warning
    }

    private static func kind(of entry: OpaquePointer) -> Kind {
        if unsafe archive_entry_hardlink(entry) != nil { return .other("a hard link") }
        return switch unsafe archive_entry_filetype(entry) {
        case cvault_file_type_regular: .file(executable: unsafe archive_entry_perm(entry) & 0o100 != 0)
        case cvault_file_type_folder: .folder
        case cvault_file_type_symlink: .other("a symbolic link")
        case cvault_file_type_fifo: .other("a FIFO")
        case cvault_file_type_socket: .other("a socket")
        case cvault_file_type_block_device, cvault_file_type_character_device: .other("a device")
        default: .other("neither a file nor a folder")
        }
    }

    /// The checked path; nil for an entry that stands for the archive's root.
    ///
    /// A leading `./` is dropped, and the slash that ends a folder's path.
    func checkedPath() throws(VaultError) -> EntryPath? {
        guard var path = path?[...] else {
            throw VaultError(
                .corrupt, "the name of an entry is not UTF-8", at: "an entry",
                remedy: "rename it and make the archive again")
        }
        if case .folder = kind {
            if path == [UInt8(ascii: ".")] { return nil }
            if path.last == UInt8(ascii: "/"), path.count > 1 { path.removeLast() }
            if path == [UInt8(ascii: ".")] { return nil }
        }
        if path.starts(with: Array("./".utf8)) { path.removeFirst(2) }
        return try EntryPath(Array(path).span)
    }
}
