import SealedPack
import VaultBase
import VaultCrypto
import VaultFileSystem

/// A loaded pack is verified byte by byte, sealed without any key and opened with its own, and repaired piece by piece.
extension PackStager {
    /// How the live version of a pack is damaged; nil where it is sound. Throws `.key` for an opened one whose key is missing.
    func damage(to loaded: PackRecord.Loaded) async throws(VaultError) -> VaultError? {
        let path = store.layout.version(loaded.pack, as: loaded.form)
        func report(_ bytes: UInt64) {
            observer(.verifying(loaded.pack.id, bytes: bytes, total: loaded.sizeToVerify))
        }
        defer { report(loaded.sizeToVerify) }
        do throws(VaultError) {
            switch loaded.form {
            case .sealed:
                let file = try PackFile(opening: path, as: loaded.pack)
                if try await file.check(progress: { report($0) }).isSound { return nil }
                return VaultError(
                    .corrupt, "a part of it is damaged", at: loaded.pack.id.description, remedy: "repair it")
            case .opened:
                let key = try await contentKey(of: loaded.pack)
                let tailFile = try PackFile(opening: store.layout.tailFile(of: loaded.pack), as: loaded.pack)
                try await OpenedTree(path, openedFrom: tailFile, key: key, isUnchanged: false)
                    .requireSound { report($0) }
                return nil
            }
        } catch {
            guard error.isDamage else { throw error }
            return VaultError(
                .corrupt, "\(error.place): \(error.problem)", at: loaded.pack.id.description,
                remedy: "repair it")
        }
    }

    /// Reports the packs that will be verified, before that begins.
    func announceVerification(of ids: [PackID]) async {
        for id in ids {
            guard let loaded = try? await store.journal.state(of: id).loaded else { continue }
            observer(.verifying(id, bytes: 0, total: loaded.sizeToVerify))
        }
    }

    /// Verifies a version whose fingerprint has changed, and repairs it where it is damaged. Without its key an opened one
    /// stays as it is.
    func repairChanged(_ loaded: PackRecord.Loaded, as offer: LocatedPack) async throws(VaultError) {
        do throws(VaultError) {
            if try await damage(to: loaded) != nil {
                _ = try await repair(offer, as: loaded.form)
            } else {
                try await store.journal.recordFingerprint(of: loaded)
            }
        } catch {
            guard error.category == .key, loaded.form == .opened else { throw error }
            let missingKey = VaultError(
                .key, "its files were changed, and its key, which is needed to verify them, is missing",
                at: loaded.pack.id.description, remedy: "give its key")
            observer(.awaitingKey(loaded.pack.id, missingKey))
        }
    }

    private func contentKey(of pack: PackManifest) async throws(VaultError) -> ContentKey {
        guard let keys else {
            throw VaultError(
                .key, "an opened pack can be verified only with its key", at: pack.id.description,
                remedy: "give its key", hint: .givingKey)
        }
        return try await keys.contentKey(of: pack)
    }

    /// Fetches what is damaged of the live version, which stays until the sound one replaces it. False when it is no longer
    /// live by then.
    func repair(_ offer: LocatedPack, as form: PackForm) async throws(VaultError) -> Bool {
        let pack = offer.pack
        let layout = store.layout
        let file = DownloadFile(layout: layout, pack: pack)
        let part = layout.partialDownload(of: pack)
        // Of a damaged tree every piece is read.
        let trees = form == .opened ? keys.map { ArrivalBasis.trees(openedWith: $0, isTrusting: false) } : nil
        var download = try await beginDownload(of: offer, to: file, restingOn: trees)
        if form == .sealed, try !FileSystem.exists(part) {
            // Where the damaged file can't be read, all of it is fetched.
            let damaged = layout.version(pack, as: .sealed)
            try? FileMove.copy(damaged, of: pack.length, to: part, permissions: 0o600) { _ in }
        }
        // What is left of it is not taken up.
        defer { try? ArrivingTree.discard(pack, in: layout) }
        let progress = DownloadProgress(of: pack, observer)
        let arrived = try await download.complete(file.claim()) { progress.report($0) }
        let isLive = try await replace(pack, as: form, by: arrived)
        if isLive { try await store.journal.recordFingerprint(of: PackRecord.Loaded(pack: pack, form: form)) }
        return isLive
    }

    private func replace(_ pack: PackManifest, as form: PackForm, by arrived: ArrivedPack)
        async throws(VaultError) -> Bool
    {
        switch form {
        case .sealed: return try await installer.replaceFile(pack, by: arrived.file)
        case .opened:
            let source = try OpenPack(
                try PackFile(arrived.file, as: pack, named: pack.id.description),
                key: try await contentKey(of: pack))
            let isLive = try await installer.replaceTree(
                pack, by: source, arriving: arrived.rest.trees.arriving, restingOn: arrived.rest.trees.basis
            ) { done in
                observer(.opening(pack.id, bytes: done, total: pack.openedSize))
            }
            try FileSystem.removeFile(arrived.file.file.path)
            return isLive
        }
    }
}

extension PackRecord.Loaded {
    /// In bytes.
    fileprivate var sizeToVerify: UInt64 {
        switch form {
        case .sealed: pack.length
        case .opened: pack.openedSize
        }
    }
}
