import SealedPack

extension PackManifest {
    /// What a file or folder takes on a disk at least, however few bytes it has.
    private static let entrySize: UInt64 = 4096

    /// What the opened pack takes on a disk: its bytes, and room for each of its files and folders. All of it is signed, so
    /// that millions of empty files are no way past a limit.
    var installedSize: UInt64 {
        let entries = UInt64(entryCount) * Self.entrySize
        let (sum, overflows) = openedSize.addingReportingOverflow(entries)
        return overflows ? .max : sum
    }
}
