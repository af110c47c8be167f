import SealedPack

extension PackManifest {
    /// The least disk space of a file or folder.
    private static let entrySize: UInt64 = 4096

    /// Disk space of the opened pack: its bytes, and one block for each file and folder. Both numbers are signed, so
    /// that millions of empty files do not evade a limit.
    var installedSize: UInt64 {
        let entries = UInt64(entryCount) * Self.entrySize
        let (sum, overflows) = openedSize.addingReportingOverflow(entries)
        return overflows ? .max : sum
    }
}
