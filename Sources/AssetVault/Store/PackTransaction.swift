import SealedPack
import VaultBase

/// A change of one pack under the store's lock: its record is read once, changes by events alone, and is written where it changed.
struct PackTransaction: ~Copyable {
    let id: PackID
    private(set) var record: PackRecord
    private let store: StoreAccess
    /// What the role's own file has; nil where it can't be read.
    private var saved: PackRecord?

    /// The caller holds the lock. A damaged record is made anew of the files on the disk.
    init(locked id: PackID, in store: StoreAccess) throws(VaultError) {
        (self.id, self.store) = (id, store)
        saved = try optional(store.records.record(of: id, in: store.role), ignoring: .corrupt)
        record =
            if let saved { store.records.completed(saved, of: id) } else {
                try store.journal.reconciled(nil, of: id)
            }
    }

    /// The same, with the record as ``followFiles()`` corrects it.
    static func following(_ id: PackID, in store: StoreAccess) throws(VaultError) -> PackTransaction {
        var change = try PackTransaction(locked: id, in: store)
        try change.followFiles()
        return change
    }

    /// The same for a pack that is to be removed: a record or a folder that can't be read must not keep it.
    init(removing id: PackID, in store: StoreAccess) {
        (self.id, self.store) = (id, store)
        saved = try? store.records.record(of: id, in: store.role)
        record =
            saved.map { store.records.completed($0, of: id) }
            ?? (try? store.journal.reconciled(nil, of: id)) ?? PackRecord()
    }

    /// Applies an event. False where it changes nothing; see ``PackRecord/after(_:)``.
    @discardableResult
    mutating func apply(_ event: PackEvent) -> Bool {
        guard let next = record.after(event) else { return false }
        record = next
        return true
    }

    /// Corrects the record by what is on the disk: an earlier process may have died before it recorded what it did.
    mutating func followFiles() throws(VaultError) {
        record = try store.journal.reconciled(record, of: id)
    }

    /// Writes the record durably, where it changed.
    mutating func save() throws(VaultError) {
        let own = store.role == .app ? record : record.withoutAppFields
        guard own != saved else { return }
        let written = try store.records.save(own, of: id)
        (saved, record.generation) = (written, written.generation)
    }
}

extension StoreAccess {
    /// Applies one event to a pack, and saves what follows, at once.
    func record(_ event: PackEvent, of id: PackID) async throws(VaultError) {
        try await withLock { () throws(VaultError) in
            var change = try PackTransaction(locked: id, in: self)
            if change.apply(event) { try change.save() }
        }
    }
}
