public import SealedPack
import Synchronization
import VaultFileSystem
import VaultSite

/// What packs are called whose site hides it.
extension VaultStore {
    /// The ID that the site lists a pack by: a digest where names are quiet, else the name itself.
    public func listedID(of name: PackID) -> PackID { names?.listedID(of: name) ?? name }

    /// The name of a pack; nil for one whose ID is its name, or whose name is not known.
    public func name(of id: PackID) -> PackID? { names?[listed: id]?.name }

    /// As the app opened them last; read again when the file changed.
    private var names: PackNames? {
        guard let status = try? FileSystem.status(of: layout.names) else { return nil }
        return knownNames.withLock { known in
            if let known, known.stamp == [status.modified, Int64(clamping: status.size)] {
                return known.names
            }
            guard let stored = try? StoredNames(of: storeAccess) else { return nil }
            known = (stored.names, [status.modified, Int64(clamping: status.size)])
            return stored.names
        }
    }
}
