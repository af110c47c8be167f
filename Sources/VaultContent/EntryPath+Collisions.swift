extension EntryPath {
    /// What two paths share when some file system takes them for one: compare it with `==`, which in
    /// Swift is Unicode canonical equivalence, after folding case.
    ///
    /// Folding is that of Unicode but for a few rare sequences: lower, upper, and lower again, each by
    /// the full mapping of every scalar, so that ß and ẞ both become ss.
    public var collisionKey: String {
        let isASCII = utf8Bytes.allSatisfy { $0 < 0x80 }
        return isASCII ? string.lowercased() : string.lowercased().uppercased().lowercased()
    }
}
