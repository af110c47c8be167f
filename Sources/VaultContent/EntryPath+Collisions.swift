extension EntryPath {
    /// The case-folded path. Keys of paths that are one on some file system are equal by `==`, which is Unicode
    /// canonical equivalence in Swift.
    ///
    /// Folding differs from Unicode's only for a few rare sequences: lower, upper, and lower again, each by the full
    /// mapping of every scalar, so that ß and ẞ both become ss.
    public var collisionKey: String {
        let isASCII = utf8Bytes.allSatisfy { $0 < 0x80 }
        return isASCII ? string.lowercased() : string.lowercased().uppercased().lowercased()
    }
}
