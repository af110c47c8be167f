import SealedPack
import VaultBase

/// The packs that downloaders have brought to a store, or are downloading. A downloader may run as another user, so a
/// pack is reported only if its digest is listed by metadata that the app verified, or by the downloader's metadata if they pass the same
/// verification. The records only name the digest that arrives. Nothing is changed.
struct BroughtPacks {
    let site: StoredSite
    private var store: StoreAccess { site.store }

    /// The records of all packs of the app, and of those that were brought.
    func records() async throws(VaultError) -> [(id: PackID, record: PackRecord)] {
        var records = Dictionary(
            try await store.journal.states().map { ($0.id, $0.record) }, uniquingKeysWith: { $1 })
        // Which downloaders may have brought, as far as they are looked at.
        let brought = Set(try store.records.waitingIDs() + store.records.ids(of: .downloader))
        if !brought.isEmpty {
            var budget = StoreArea.Budget()
            for view in try await views() {
                for pack in try await view.allPacks().packs.map(\.pack) where brought.contains(pack.id) {
                    records[pack.id] = shown(records[pack.id] ?? PackRecord(), with: pack, within: &budget)
                }
            }
        }
        return records.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The record of one pack.
    func record(of id: PackID) async throws(VaultError) -> PackRecord {
        var record = try await store.journal.state(of: id)
        guard try store.records.isBrought(id) else { return record }
        var budget = StoreArea.Budget()
        for view in try await views() {
            if let listed = try? await view.pack(listedAs: id) {
                record = shown(record, with: listed.pack, within: &budget)
            }
        }
        return record
    }

    /// By the app's metadata, then by a downloader's: where both list a pack that was brought, the later one counts.
    private func views() async throws(VaultError) -> [SiteView] {
        try await [site.view(), site.broughtView()].compactMap(\.self)
    }

    private func shown(
        _ record: PackRecord, with listed: PackManifest, within budget: inout StoreArea.Budget
    ) -> PackRecord {
        let present = record.versions.map(\.pack.sha256) + [record.waiting?.sha256].compactMap(\.self)
        guard !record.isRemoved, !present.contains(listed.sha256),
            record.loaded.map({ $0.pack.version < listed.version }) ?? true
        else { return record }
        var record = record
        if (try? store.waiting(listed.id).seemsToHold(listed)) == true {
            record.waiting = listed
        } else if record.arriving == nil,
            let other = try? store.records.record(of: listed.id, in: .downloader, within: &budget),
            other.arriving?.sha256 == listed.sha256
        {
            record.arriving = listed
            record.failure = record.failure ?? other.failure
        }
        return record
    }
}

extension PackRecords {
    fileprivate func isBrought(_ id: PackID) throws(VaultError) -> Bool {
        for folder in [
            layout.waiting(of: id), layout.recordFolder(of: id, in: .downloader),
        ]
        where try layout.sharedArea.openFolder(folder) != nil { return true }
        return false
    }
}
