import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

extension PackStaging {
    /// Rolls every pack forward or back to a whole state. Runs first, under the lock, and may itself be cut off.
    func recover() async throws(VaultError) {
        let control = try await lock()
        for id in try records.ids() { try recover(id) }
        _ = consume control
    }

    private func recover(_ id: PackID) throws(VaultError) {
        var record = try records.record(of: id)
        var isChanged = false
        if let waiting = record.waiting, try !FileSystem.exists(layout.waitingPack(waiting)) {
            record.waiting = nil
            isChanged = true
        }
        if try FileSystem.exists(layout.home(of: id)) {
            _ = try Folder(opening: layout.home(of: id)).removeAbandonedScratch()
            let found = try current(of: id)
            if found?.pack.sha256 != record.loaded?.pack.sha256 || found?.form != record.loaded?.form {
                record.loaded = found
                isChanged = true
            }
        } else if record.loaded != nil {
            record.loaded = nil
            isChanged = true
        }
        if isChanged { try records.save(record, of: id) }
    }

    /// What `current` points to, by the descriptor beside it; nil when it points to nothing.
    private func current(of id: PackID) throws(VaultError) -> PackRecord.Loaded? {
        let home = try Folder(opening: layout.home(of: id))
        guard let target = try home.readLink("current"), let name = target.lastComponent?.string,
            try home.status(of: name) != nil
        else { return nil }
        let pack = try PackDescriptorFile.read(beside: layout.home(of: id).appending(name))
        return PackRecord.Loaded(pack: pack, form: name.hasSuffix(".avpack") ? .sealed : .opened)
    }

    /// Removes partial downloads that no process holds.
    func clearEphemeral() throws(VaultError) {
        guard try FileSystem.exists(layout.ephemeral) else { return }
        let folder = try Folder(opening: layout.ephemeral)
        for name in try folder.names() where name.suffix(5).elementsEqual(".part".utf8) {
            guard let part = try? folder.updateFile(name), try part.tryLock(exclusive: true) else { continue }
            try folder.unlink(name)
        }
    }
}
