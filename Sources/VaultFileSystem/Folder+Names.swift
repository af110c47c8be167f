internal import CVaultSystem
internal import SystemPackage
public import VaultErrors

extension Folder {
    /// Passes the raw bytes of every name but `.` and `..`, in no order.
    public func forEachName(_ body: ([UInt8]) throws(VaultError) -> Void) throws(VaultError) {
        try visitNames(whileTrue: { (name) throws(VaultError) in
            try body(name)
            return true
        })
    }

    /// The same, until `body` returns false.
    func visitNames(whileTrue body: ([UInt8]) throws(VaultError) -> Bool) throws(VaultError) {
        // A directory stream owns its descriptor and moves its position, so it needs its own.
        let opened = unsafe vault_open(descriptor, FilePath(".").characters, VAULT_FOLDER, 0)
        try check(opened, .reading, "list", path)
        guard let stream = unsafe vault_names(opened) else {
            vault_close(opened)
            throw .system(ENOMEM, .reading, "list", path)
        }
        defer { unsafe closedir(stream) }
        let dot = UInt8(ascii: ".")
        var failure: Int32 = 0
        while let start = unsafe vault_next_name(stream, &failure) {
            let name = unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
            if name != [dot], name != [dot, dot], try !body(name) { return }
        }
        try check(-failure, .reading, "list", path)
    }

    /// The raw bytes of at most `limit` names, sorted by bytes, and whether the folder has no others: for a folder that others may
    /// fill. Which names of a larger folder are among them is not defined.
    public func names(
        upTo limit: Int, where isWanted: ([UInt8]) -> Bool = { _ in true }
    ) throws(VaultError) -> (names: [[UInt8]], isWhole: Bool) {
        var names: [[UInt8]] = []
        var isWhole = true
        try visitNames(whileTrue: { name in
            guard isWanted(name) else { return true }
            isWhole = names.count < limit
            if isWhole { names.append(name) }
            return isWhole
        })
        return (names.sorted { $0.lexicographicallyPrecedes($1) }, isWhole)
    }

    /// The raw bytes of every name but `.` and `..`, sorted by bytes.
    public func names() throws(VaultError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        try forEachName { (name) throws(VaultError) in names.append(name) }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
