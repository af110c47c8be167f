public import SystemPackage
public import VaultBase
import VaultFileSystem

/// Keeps the keys that another provider gave, such as a key service, so that an app starts without the network.
///
/// The keys are in a file, as a JWK Set wrapped by AES-KW (RFC 3394) under a key that the app takes from the platform's store, such as
/// a keychain or the secret service. A copy of the file, or of the whole folder that the app keeps its packs in, is then worth nothing
/// elsewhere. It protects against nobody who may use the platform's store as the app does: not against the owner of the device.
///
/// A kept key is used only where the provider can't be reached or fails. It is removed when the provider says that there is no such key,
/// or that the player may not have it (``VaultBase/VaultError/isKeyRefusal``); until then a device that stays offline keeps it.
public final class KeptKeys: KeyProvider {
    private let provider: any KeyProvider
    private let file: FilePath
    private let wrappingKey: SecretBytes

    /// - Parameters:
    ///   - file: made with mode 0600 when a key is kept. Beside it is a lock file, as several processes may share it.
    ///   - wrappingKey: 32 random bytes, used for nothing else.
    /// - Throws: `key` for a wrapping key of another size, or one that does not unwrap the file: the app then removes the file, or stops.
    public init(
        of provider: any KeyProvider, in file: FilePath, wrappedUnder wrappingKey: consuming SecretBytes
    ) throws(VaultError) {
        guard wrappingKey.count == 32 else {
            throw VaultError(
                .key, "a wrapping key of \(wrappingKey.count) bytes", at: "kept keys", remedy: "give 32 bytes"
            )
        }
        (self.provider, self.file) = (provider, file)
        self.wrappingKey = wrappingKey
        _ = try kept()
    }

    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        let answer: KeyRing
        do throws(VaultError) { answer = try await provider.keys(for: id) } catch {
            if error.isKeyRefusal { try await replace(id, by: KeyRing()) }
            guard error.isHostFailure else { throw error }
            let kept = try kept().keys(for: id)
            if kept.isEmpty { throw error }
            return kept
        }
        if answer.isEmpty {
            try await replace(id, by: answer)
        } else {
            // A key that can't be kept can be used all the same.
            try? await replace(id, by: answer)
        }
        return answer
    }

    public func allKeys() async throws(VaultError) -> KeyRing { try await provider.allKeys() }
    public func knownKeyIDs() async -> [KeyID]? { await provider.knownKeyIDs() }

    private func kept() throws(VaultError) -> KeyRing {
        guard let wrapped = try wrapped() else { return KeyRing() }
        let text: SecretBytes
        do throws(VaultError) { text = try AESKeyWrap.unwrap(wrapped.span, under: wrappingKey) } catch {
            throw VaultError(
                .key, "the kept keys do not open with this key, or the file was changed", at: file.string,
                remedy: "give the key that it was wrapped under, or remove the file to fetch the keys again")
        }
        return try KeyRing(parsingJWK: text, place: file.string)
    }

    /// The bytes of the file; nil before a key was kept.
    private func wrapped() throws(VaultError) -> [UInt8]? {
        guard try FileSystem.exists(file) else { return nil }
        return try DurableFile.read(file, limit: KeyRing.byteLimit)
    }

    /// Writes only what differs: most lookups give the key that is kept already.
    private func replace(_ id: KeyID, by new: KeyRing) async throws(VaultError) {
        if new.isEmpty, try !kept().contains(id) { return }
        let lock = try await FileLock.acquire(
            FilePath("\(file).lock"), .exclusive, patience: .seconds(10))
        defer { withExtendedLifetime(lock) {} }
        var ring = try kept().removing(id)
        // In a set an ID is unique.
        if let key = new.vaultKeys.first {
            ring.append(key)
        } else if let key = new.contentKeys.first {
            ring.append(key)
        }
        let wrapped = try AESKeyWrap.wrap(ring.sorted().jwkSet().padded(), under: wrappingKey)
        guard try self.wrapped() != wrapped else { return }
        try DurableFile.write(wrapped.span, to: file, permissions: 0o600, replacing: true)
    }
}

extension KeyRing {
    /// Equal keys in equal order, so that they are wrapped to equal bytes.
    fileprivate func sorted() -> KeyRing {
        KeyRing(
            vaultKeys: vaultKeys.sorted { $0.id.description < $1.id.description },
            contentKeys: contentKeys.sorted { $0.id.description < $1.id.description })
    }
}

extension SecretBytes {
    /// With spaces at its end, which JSON allows: AES-KW wraps 16 or more bytes, a multiple of 8.
    fileprivate func padded() throws(VaultError) -> SecretBytes {
        let length = max(16, (count + 7) / 8 * 8)
        return try appending(SecretBytes(copying: [UInt8](repeating: 0x20, count: length - count).span))
    }
}
