internal import CVaultSystem
internal import SystemPackage
public import VaultErrors

/// Names of scratch files and folders: hidden, unique, and recognized after a crash.
enum ScratchName {
    private static let prefix = ".assetvault-"
    private static let suffix = ".tmp"

    /// A unique name that can't be predicted.
    static func random(for path: FilePath) throws(VaultError) -> String {
        var words: (UInt64, UInt64) = (0, 0)
        let result = unsafe withUnsafeMutableBytes(of: &words) {
            unsafe vault_random($0.baseAddress, $0.count)
        }
        try check(result, .creating, "get random bytes", path)
        return prefix + String(words.0, radix: 36) + "-" + String(words.1, radix: 36) + suffix
    }

    static func matches(_ name: [UInt8]) -> Bool {
        name.starts(with: prefix.utf8) && name.reversed().starts(with: suffix.utf8.reversed())
    }
}

extension Folder {
    /// Removes the scratch files and folders left here by dead processes of this user; those of living ones are locked
    /// and stay. Returns their number.
    ///
    /// Links can't be locked: call this only while nobody uses ``replaceLink(_:target:)`` here.
    @discardableResult
    public func removeAbandonedScratch() throws(VaultError) -> Int {
        var removed = 0
        // Others may have filled the folder: its names are not kept.
        try forEachName { (name) throws(VaultError) in
            guard ScratchName.matches(name) else { return }
            do throws(VaultError) {
                if try removeIfAbandoned(name) { removed += 1 }
            } catch {
                // Its creator removed it first.
                guard error.category == .missing else { throw error }
            }
        }
        return removed
    }

    /// Whether a living process has scratch here.
    public func hasScratchInUse() throws(VaultError) -> Bool {
        for name in try names() where ScratchName.matches(name) {
            switch try status(of: name)?.kind {
            case .file: if let file = try? openFile(name), try !file.tryLock(exclusive: false) { return true }
            case .folder:
                if let folder = try? openFolder(name), try !folder.tryLock(exclusive: false) { return true }
            default: continue
            }
        }
        return false
    }

    private func removeIfAbandoned(_ name: [UInt8]) throws(VaultError) -> Bool {
        guard let status = try status(of: name), status.owner == geteuid() else { return false }
        switch status.kind {
        case .file: return try remove(name, ifFree: try openFile(name))
        case .folder: return try remove(name, ifFree: try openFolder(name))
        default:
            try unlink(name)
            return true
        }
    }

    /// Keeps the lock until the name is removed.
    private func remove(_ name: [UInt8], ifFree opened: borrowing some OpenHandle & ~Copyable)
        throws(VaultError) -> Bool
    {
        guard try opened.tryLock(exclusive: true) else { return false }
        try removeTree(name)
        return true
    }
}
