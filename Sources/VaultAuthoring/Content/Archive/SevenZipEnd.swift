import VaultBase

/// The end of a 7z archive, stated by its first 32 bytes (7zFormat.txt, "SignatureHeader").
enum SevenZipEnd {
    /// Throws `.corrupt` unless the file ends at the stated end.
    static func check(_ file: FileSource) throws(VaultError) {
        guard let size = try file.size() else { throw .needsFile("7z", file.name) }
        let start = size < 32 ? [] : try file.bytes(32, at: 0)
        if let offset = start.span.littleEndian(at: 12, byteLength: 8),
            let count = start.span.littleEndian(at: 20, byteLength: 8)
        {
            let (header, overflow) = offset.addingReportingOverflow(32)
            let (end, tooFar) = header.addingReportingOverflow(count)
            if !overflow, !tooFar, end == size { return }
        }
        throw .wrongEnd(file.name)
    }
}

extension VaultError {
    /// The archive does not end at the end of its file.
    static func wrongEnd(_ name: String) -> VaultError {
        VaultError(
            .corrupt, "the archive is cut short, or extra bytes follow its end", at: name,
            remedy: "make the archive again")
    }

    /// The format can't be read sequentially.
    static func needsFile(_ format: String, _ name: String) -> VaultError {
        VaultError(
            .usage, "a \(format) archive can't be read from a stream", at: name, remedy: "give its path")
    }
}
