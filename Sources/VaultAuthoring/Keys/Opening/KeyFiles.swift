import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

extension VaultSettings {
    /// Throws `.usage` where the keys of an audience come from elsewhere than a file.
    func keyFile(of audience: String?, in vault: VaultFolder) throws(VaultError) -> FilePath {
        if let audience, !audiences.isDeclared(audience) {
            throw VaultError(
                .usage, "the audience '\(audience.excerpt)' is not declared", at: vault.settings.string,
                remedy: "add it to \"audiences\""
            ).suggesting(audience, among: audiences.all)
        }
        if let file = audiences.file(of: audience) { return file }
        throw VaultError(
            .usage, "the keys of \(Audiences.words(for: audience)) do not come from a file",
            at: vault.settings.string,
            remedy: "add the new key where they come from, and publish; then retire the old one by its ID")
    }

    /// The one key in the file of an audience that is not declared yet, which is made where there is no such file. Throws `.unwritable` for
    /// a file of others, or with another number of keys.
    func keyOfNewAudience(in file: FilePath, of vault: VaultFolder) throws(VaultError) -> KeyID {
        guard try FileSystem.exists(file) else {
            return try VaultKeyFile.generate(at: file, passphrase: vault.passphrase)
        }
        if let owner = audiences.owners(of: file).first {
            throw VaultError(
                .unwritable, "it has the keys of \(Audiences.words(for: owner))", at: file.string,
                remedy:
                    "choose another name for the new audience, or declare it in \"audiences\" with this file")
        }
        let ring = try vault.keys(in: file).ring()
        guard let key = ring.vaultKeys.first, ring.ids.count == 1 else {
            throw VaultError(
                .unwritable, "it exists already, with another number of keys than one", at: file.string,
                remedy: "declare it in \"audiences\", or choose another name for the new audience")
        }
        return key.id
    }

    /// The key files that have some of these keys, each once. Throws `.usage` where one would be left without a key, `.unwritable` where one
    /// would lose anything else.
    func files(
        of ids: Set<KeyID>, in vault: VaultFolder
    ) throws(VaultError) -> [(file: FilePath, ring: KeyRing)] {
        var found: [(file: FilePath, ring: KeyRing)] = []
        for owner in audiences.owners {
            guard let file = audiences.file(of: owner), audiences.owners(of: file).first == owner,
                try FileSystem.exists(file)
            else { continue }
            let keys = try vault.keys(in: file).ring().vaultKeys.map(\.id)
            guard keys.contains(where: ids.contains) else { continue }
            guard !keys.allSatisfy(ids.contains) else {
                throw VaultError(
                    .usage, "\(Audiences.words(for: owner)) has no other key", at: file.string,
                    remedy: "replace the key", hint: .replacingKey)
            }
            found.append((file, try vault.keysToRewrite(in: file)))
        }
        return found
    }

    /// Takes keys out of the files that packs are sealed by; each gets a file of its own.
    func removeKeys(
        _ ids: Set<KeyID>, from files: [(file: FilePath, ring: KeyRing)], in vault: VaultFolder
    ) throws(VaultError) {
        for (file, ring) in files {
            for key in ring.vaultKeys where ids.contains(key.id) { try vault.keep(key, of: file) }
            try VaultKeyFile.write(
                ring.without(ids), to: file, like: file, passphrase: vault.passphrase)
        }
        var settings = self
        try settings.setReplacedKeys(audiences.replaced.filter { !ids.contains($0.id) })
        try settings.write(to: vault.settings)
    }
}

extension VaultFolder {
    /// The keys of a file that is written again.
    func keysToRewrite(in file: FilePath) throws(VaultError) -> KeyRing {
        let ring = try keys(in: file).ring()
        try VaultKeyFile.requireRewritable(file, holding: ring)
        return ring
    }

    /// Writes the file of one key, unless it is there, in the form of the file that the key is in. Throws `.unwritable` where the file holds
    /// anything else.
    func keep(_ key: VaultKey, of original: FilePath) throws(VaultError) {
        let file = self.key(key.id)
        guard try FileSystem.exists(file) else {
            try FileSystem.createFolders(replacedKeys, permissions: 0o700)
            return try VaultKeyFile.write(
                KeyRing(vaultKeys: [key]), to: file, like: original, passphrase: passphrase)
        }
        var ring = try keys(in: file).ring()
        // A ring takes an equal key once.
        ring.append(KeyRing(vaultKeys: [key]))
        guard ring.vaultKeys.count == 1, ring.contentKeys.isEmpty else {
            throw VaultError(
                .unwritable, "it holds another key than '\(key.id)'", at: file.string,
                remedy: "move the file away")
        }
    }
}
