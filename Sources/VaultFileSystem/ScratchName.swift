internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// Names of scratch files and folders: hidden, unlike any other, and known again after a crash.
enum ScratchName {
    static let prefix = ".assetvault-"
    static let suffix = ".tmp"

    /// A name that nobody has or can foresee.
    static func random(for path: FilePath) throws(VaultError) -> String {
        var words: (UInt64, UInt64) = (0, 0)
        let result = unsafe withUnsafeMutableBytes(of: &words) {
            unsafe vault_random($0.baseAddress, $0.count)
        }
        try check(result, .creating, "get random bytes", path)
        return prefix + String(words.0, radix: 36) + String(words.1, radix: 36) + suffix
    }

    static func matches(_ name: [UInt8]) -> Bool {
        name.starts(with: prefix.utf8) && name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}

extension FileSystem {
    /// Removes the scratch files and folders that processes which died have left in a folder; those of
    /// living ones are locked and stay. Returns how many were removed.
    @discardableResult
    public static func removeAbandonedScratch(in path: FilePath) throws(VaultError) -> Int {
        let folder = try Folder(opening: path)
        var removed = 0
        for name in try folder.names() where ScratchName.matches(name) {
            guard let status = try folder.status(of: name) else { continue }
            switch status.kind {
            case .file: guard try folder.updateFile(name).tryLock(exclusive: true) else { continue }
            case .folder: guard try folder.openFolder(name).tryLock(exclusive: true) else { continue }
            default: continue
            }
            try folder.removeTree(name)
            removed += 1
        }
        return removed
    }
}
