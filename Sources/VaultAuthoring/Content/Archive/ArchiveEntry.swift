import CVaultArchive
import Glibc
import SealedPack
import VaultBase

/// The metadata of one archive entry.
struct ArchiveEntry {
    enum Kind {
        case file(executable: Bool)
        case folder
        /// The description of an unsupported kind, such as "a symbolic link".
        case other(String)
    }

    /// A warning of libarchive.
    enum Warning {
        /// The name can't be converted to UTF-8.
        case name
        case other(String)
    }

    /// The unchecked path in the archive.
    var path: [UInt8] = []
    let kind: Kind
    /// Bytes of content, nil where the archive states it after the content.
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

    /// The checked path, without a leading `./` and a folder's final slash; nil for the archive's root.
    ///
    /// - Throws: `.corrupt` for an entry that can't be packed.
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
