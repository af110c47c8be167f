import SealedPack
public import SystemPackage
import UpdateFramework
public import VaultBase
public import VaultCrypto
import VaultFileSystem
import VaultSite

/// Changes of the vault keys that packs are sealed for, in all channels at once. Only slots in the signed metadata change: no pack is
/// sealed, and clients download nothing again.
public struct KeyReplacement: Sendable {
    private let request: AuthorRequest

    public init(_ request: AuthorRequest) { self.request = request }

    /// Makes a key for an audience, or for the vault itself, beside those that it has. The next publication seals for it, too. In an
    /// encrypted file, and with a passphrase in that of a new audience, it is encrypted. A file of a new audience's name that has one key
    /// is declared as it is: an interrupted call made it.
    public static func add(to audience: String?, in vault: VaultFolder) async throws(VaultError) -> KeyID {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            var settings = settings
            if let audience, !settings.audiences.isDeclared(audience) {
                guard (try? KeyID(audience)) != nil else {
                    throw VaultError(
                        .usage, "'\(audience.excerpt)' can't be the name of a new audience", at: "--audience",
                        remedy: "use 1 to 64 characters of A-Z a-z 0-9 _ -, or declare it with its file")
                }
                let file = vault.keys.appending("\(audience).jwks")
                let id = try settings.keyOfNewAudience(in: file, of: vault)
                try settings.declareAudience(audience, file: FilePath("keys/\(audience).jwks"))
                try settings.write(to: vault.settings)
                return id
            }
            let file = try settings.keyFile(of: audience, in: vault)
            let key = try VaultKey.generate()
            var ring = try vault.keysToRewrite(in: file)
            ring.append(KeyRing(vaultKeys: [key]))
            try KeySlot.requireCount(ring.vaultKeys.count, at: file.string)
            try VaultKeyFile.write(ring, to: file, like: file, passphrase: vault.passphrase)
            return key.id
        }
    }

    /// Puts a new key in the place of an audience's keys, and seals for both until ``finish(_:in:)``: so clients that get the
    /// new key later than the metadata still open everything. Interrupted at any point, it is completed by running it again.
    public func begin(_ audience: String?, in vault: VaultFolder) async throws(VaultError) -> KeyChangeReport
    {
        try request.requireRealRun("the replacement of a key")
        return try await vault.carryOut(request) { session, output async throws(VaultError) in
            var session = session
            let new = try await session.replaceKeys(of: audience)
            var report = try await session.publishKeys(into: output)
            report.new = new
            return report
        }
    }

    /// Seals no longer for the keys that were replaced, and retires them.
    public func finish(_ audience: String?, in vault: VaultFolder) async throws(VaultError) -> KeyChangeReport
    {
        let settings = try VaultSettings(reading: vault.settings, passphrase: vault.passphrase)
        let ids = Set(settings.audiences.replaced.filter { $0.audience == audience }.map(\.id))
        guard !ids.isEmpty else {
            throw VaultError(
                .usage, "no key of \(Audiences.words(for: audience)) is being replaced",
                at: vault.settings.string,
                remedy: "replace one first, or retire a key by its ID")
        }
        return try await retire(ids, in: vault)
    }

    /// Seals no longer for some keys, whatever file they are in, and remembers in the signed metadata that they are retired. Each stays in
    /// a file of its own, which opens what only it opens. Throws `.missing` for an ID that neither a file nor any kept metadata has: a
    /// mistyped one could not be taken back.
    public func retire(_ ids: Set<KeyID>, in vault: VaultFolder) async throws(VaultError) -> KeyChangeReport {
        try await vault.carryOut(request) { session, output async throws(VaultError) in
            try await session.requireKnown(ids)
            let replaced = ids.intersection(session.settings.audiences.replaced.map(\.id))
            try await session.requireContentKeys { $0.slots.contains { replaced.contains($0.keyID) } }
            let files = try session.settings.files(of: ids, in: vault)
            let report = try await session.publishKeys(retiring: ids, into: output)
            if output.scratch == nil { try session.settings.removeKeys(ids, from: files, in: vault) }
            return report
        }
    }

    /// Removes the file of a retired key, and returns its path.
    ///
    /// - Throws: `usage` for a key that is in use, or without which a version that is listed or could be restored opens no more; `missing`
    ///   without a file.
    public func remove(_ id: KeyID, in vault: VaultFolder) async throws(VaultError) -> FilePath {
        try request.requireRealRun("the removal of a key")
        return try await vault.withSession(request) { session async throws(VaultError) in
            guard session.retiredKeys.ids.contains(id) else {
                throw VaultError(
                    .usage, "the key '\(id)' is not retired", at: vault.keys.string,
                    remedy: "retire it first, so that no pack is sealed for it", hint: .retiringKey("\(id)"))
            }
            if let pack = try await session.version(thatNeeds: id) {
                throw VaultError(
                    .usage,
                    "only retired keys open '\(pack.id)' version \(pack.version), which is listed or could be restored",
                    at: vault.key(id).string,
                    remedy: "keep the key as long as that version is kept, or prune it")
            }
            try FileSystem.removeFile(vault.key(id))
            try Folder(opening: vault.replacedKeys).synchronize()
            return vault.key(id)
        }
    }
}

/// What a change of keys did.
public struct KeyChangeReport: Sendable {
    /// What takes the place of replaced keys, and the file of the audience that it is in.
    public struct NewKeys: Sendable {
        public let ids: [KeyID]
        public let file: String
    }

    /// Nil unless keys are being replaced.
    public internal(set) var new: NewKeys?
    /// The versions that got other slots, by channel.
    public let rekeyed: [PublicationReport.Rekeyed]
    /// Of each key that is retired.
    public let exposures: [KeyExposure]
    /// The keys that are being replaced, still sealed for.
    public let replaced: [KeyID]
    public let written: [String]
    public let toWrite: [String]
    public internal(set) var warnings: [Finding]
}

extension AuthorSession {
    /// Nothing is written where a pack would have too many keys, or no key opens what is listed.
    fileprivate mutating func replaceKeys(
        of audience: String?
    ) async throws(VaultError) -> KeyChangeReport.NewKeys {
        let file = try settings.keyFile(of: audience, in: vault)
        let ring = try vault.keysToRewrite(in: file)
        let ids = ring.vaultKeys.map(\.id)
        let owners = settings.audiences.owners(of: file)
        let replaced = settings.audiences.replaced
        let known = Set(replaced.filter { $0.audience == audience }.map(\.id))
        // The new key may be there already.
        guard known.isEmpty || known.isSuperset(of: ids) else {
            return KeyChangeReport.NewKeys(ids: ids.filter { !known.contains($0) }, file: file.string)
        }
        let fresh = try VaultKey.generate()
        if known.isEmpty {
            try await requireAnyContentKey()
            try await PackPublisher(for: self).keys.requireFewEnough(
                for: settings, with: fresh.id, of: owners)
            for key in ring.vaultKeys { try vault.keep(key, of: file) }
            try settings.setReplacedKeys(
                replaced + ids.flatMap { id in owners.map { ReplacedKey(id, of: $0) } })
            try settings.write(to: vault.settings)
        } else if try settings.audiences.files(of: Set(ids)).count < ids.count {
            // The new key was made elsewhere.
            throw settings.audiences.newKeyMissing(of: audience)
        }
        try VaultKeyFile.write(
            KeyRing(vaultKeys: [fresh], contentKeys: ring.contentKeys), to: file, like: file,
            passphrase: vault.passphrase)
        return KeyChangeReport.NewKeys(ids: [fresh.id], file: file.string)
    }

    /// A version, listed or in kept metadata, whose content key no unretired key unwraps from any slot.
    fileprivate func version(thatNeeds id: KeyID) async throws(VaultError) -> PackManifest? {
        var wrapped: [ContentKeyID: PackManifest] = [:]
        var open: Set<ContentKeyID> = []
        func note(_ key: ContentKeyID, in slots: [KeySlot], of pack: PackManifest) {
            let holders = slots.map(\.keyID)
            if holders.contains(id) { wrapped[key] = pack }
            if !holders.allSatisfy(retiredKeys.ids.contains) { open.insert(key) }
        }
        func note(_ pack: PackManifest) { note(pack.contentKeyID, in: pack.slots, of: pack) }
        let listed = try listedVersions().map(\.pack)
        let publisher = try await PackPublisher(for: self)
        for pack in listed {
            note(pack)
            guard pack.isNamesTable, let key = try await publisher.nameKeySlots(in: pack) else { continue }
            note(key.id, in: key.slots, of: pack)
        }
        try await host?.readWholeHistory(of: Set(listed.map(\.id)))
        // An earlier table of names gives way to the newest one.
        try await PackHistory(of: self).forEachPack { _, pack in
            if !pack.isNamesTable { note(pack) }
        }
        return wrapped.filter { !open.contains($0.key) }.values.min {
            ($0.id, $0.version) < ($1.id, $1.version)
        }
    }

    fileprivate func requireKnown(_ ids: Set<KeyID>) async throws(VaultError) {
        let keys = try await PackPublisher(for: self).keys
        let slots = Set(try listedVersions().flatMap(\.pack.slots).map(\.keyID))
        for id in ids.subtracting(slots) where !keys.lists(id) {
            try await host?.readWholeHistory(of: Set(listedVersions().map(\.pack.id)))
            guard try await PackHistory(of: self).keyIDs().contains(id) else {
                throw VaultError(
                    .missing, "no key has this ID, and no pack has a slot for it", at: "key '\(id)'",
                    remedy: "check it in the list of keys")
            }
        }
    }

    /// Lists what every channel lists, for the keys of today.
    ///
    /// - Parameter released: the sources whose packs get other slots, and that the changed settings no longer hold; nil for all, with
    ///   unchanged settings.
    func publishKeys(
        retiring ids: Set<KeyID> = [], releasing released: Set<PackID>? = nil,
        into output: ProposedChange.Output
    ) async throws(VaultError) -> KeyChangeReport {
        let session = retiring(ids)
        let publisher = try await PackPublisher(for: session, sealingInto: output.scratch)
        try await publisher.keys.requireFewEnough(for: settings)
        if output.scratch == nil { try FileSystem.createFolders(vault.targets, permissions: 0o755) }
        let earlier = try await EarlierPacks(of: session)
        let names = try await OpaqueNames(settings.hasOpaqueNames, after: earlier, by: publisher)
        var rekeying = try await ChannelRekeying(
            of: settings.structure.listingChannels, in: session,
            for: Recipients(declaredBy: settings, only: released, listedAs: names), by: publisher,
            earlier.given)
        let shown = await publisher.names(of: rekeying.listed.map(\.pack))
        rekeying.name(by: shown)
        let next = try listedVersions(replacing: rekeying.records)
        let exposures = try await exposures(of: ids, after: next, naming: shown)
        let metadata = try await session.publish(
            ProposedChange(
                listing: rekeying.records, names: shown, deliveries: deliveries(),
                settings: released == nil ? nil : settings), into: output)
        return KeyChangeReport(
            rekeyed: rekeying.packs, exposures: exposures,
            replaced: Set(settings.audiences.replaced.map(\.id)).subtracting(ids).sorted {
                $0.description < $1.description
            },
            written: metadata.written, toWrite: metadata.toWrite,
            warnings: session.warnings + rekeying.closed.warnings(naming: shown) + metadata.warnings)
    }
}
