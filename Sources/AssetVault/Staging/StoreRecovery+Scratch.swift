import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// What processes that died were writing or removing.
extension StoreRecovery {
    /// What can't be removed costs a few kilobytes: a downloader that runs as another user removes it itself.
    func removeScratchOfDownloadersMetadata() {
        let layout = store.layout
        for folder in MetadataStore(folder: layout.trust(of: .downloader)).folders {
            _ = try? layout.openFolder(folder, in: layout.shared)?.removeAbandonedScratch()
        }
    }

    /// Scratch of all packs, also of those without a record. False where something could not be looked at.
    func removeScratchOfPacks() -> Bool {
        let (layout, role) = (store.layout, store.role)
        var places = [(layout.states(of: role), layout.area(of: role)), (layout.packs, layout.shared)]
        if role == .app {
            places += [(layout.permanent, layout.permanent), (layout.states(of: .downloader), layout.shared)]
        }
        var isComplete = true
        for (place, area) in places {
            do throws(VaultError) {
                guard let folder = try layout.openFolder(place, in: area) else { continue }
                if !removeScratch(below: folder) { isComplete = false }
            } catch { isComplete = false }
        }
        return isComplete
    }

    /// Only folders of pack IDs are entered: neither versions, whose names begin with `@`, nor what is still being written.
    private func removeScratch(below folder: borrowing Folder) -> Bool {
        do throws(VaultError) {
            var isComplete = (try? folder.removeAbandonedScratch()) != nil
            for name in try folder.names() {
                // `lost+found`, for example, is the system's.
                guard (try? PackID(String(decoding: name, as: UTF8.self))) != nil else { continue }
                do throws(VaultError) {
                    guard let inner = try folder.enter(name) else { continue }
                    if !removeScratch(below: inner) { isComplete = false }
                } catch { isComplete = false }
            }
            return isComplete
        } catch { return false }
    }

    /// Scratch of one pack.
    func removeAbandonedScratch(of id: PackID) throws(VaultError) {
        let (layout, role) = (store.layout, store.role)
        let state = layout.state(of: id, in: role).removingLastComponent()
        var folders = [(state, layout.area(of: role)), (layout.waiting(of: id), layout.shared)]
        if role == .app { folders.append((layout.home(of: id), layout.permanent)) }
        for (folder, area) in folders { try layout.openFolder(folder, in: area)?.removeAbandonedScratch() }
    }
}
