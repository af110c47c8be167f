import CVaultArchive
import Glibc
import VaultContent
import VaultErrors

/// What an archive says of one entry, as far as it matters here.
struct ArchiveEntry {
    enum Kind {
        case file(executable: Bool)
        case folder
        /// Something that can't be packed: "a symbolic link".
        case other(String)
    }

    /// What libarchive minded.
    enum Warning {
        /// The archive's own encoding can't be turned into UTF-8.
        case name
        case other(String)
    }

    /// The path as it stands in the archive, unchecked.
    var path: [UInt8] = []
    let kind: Kind
    /// Bytes of content, nil where the archive says it only afterwards.
    let size: Int64?
    let isEncrypted: Bool
    let warning: Warning?

    init(_ entry: OpaquePointer, warning: Warning?) {
        if let text = unsafe archive_entry_pathname(entry) {
            path = unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
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
    ///
    /// - Throws: `.corrupt` for whatever can't be packed.
    func checkedPath() throws(VaultError) -> EntryPath? {
        if case .name = warning { throw refusal("the name is not UTF-8") }
        var path = path[...]
        if case .folder = kind {
            if path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
            if path == [UInt8(ascii: ".")] { return nil }
        }
        if path.starts(with: Array("./".utf8)) { path.removeFirst(2) }
        let checked = try EntryPath(Array(path).span)
        if case .other(let what) = kind { throw refusal("is \(what)", remedy: "leave it out of the archive") }
        if isEncrypted { throw refusal("is encrypted", remedy: "make the archive without a password") }
        if case .other(let warning) = warning { throw refusal(warning) }
        return checked
    }

    private func refusal(_ problem: String, remedy: String = "make the archive again") -> VaultError {
        VaultError(.corrupt, problem, at: "entry \(EntryPath.quoted(path.span))", remedy: remedy)
    }
}
