import Foundation
import SystemPackage
import VaultBase
import VaultCrypto

/// A folder for one test, without spaces in its path.
final class TestFolder: Sendable {
    let path: FilePath

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "vault-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = FilePath(url.path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)
    }

    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> FilePath {
        let file = path.appending(name)
        try FileManager.default.createDirectory(
            atPath: file.removingLastComponent().string, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: file.string))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.string)
        return file
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: path.appending(name).string, withDestinationPath: target)
    }
}

/// A key of the tests: 32 equal bytes.
struct SampleKey {
    let value: UInt8
    var bytes: [UInt8] { [UInt8](repeating: value, count: 32) }
    /// Text that no error may contain.
    var text: String { Base64URL.encode(bytes.span) }

    func vaultJWK(_ kid: String?) -> String {
        let name = kid.map { #""kid":"\#($0)","# } ?? ""
        return #"{"kty":"oct","alg":"A256KW",\#(name)"k":"\#(text)"}"#
    }

    func contentJWK(_ id: [UInt8]) -> String {
        let kid = Base64URL.encode(id.span)
        return
            #"{"kty":"oct","alg":"x-assetvault-content-1","key_ops":["deriveKey"],"kid":"\#(kid)","k":"\#(text)"}"#
    }
}

func jwkSet(_ keys: String...) -> String {
    #"{"keys":[\#(keys.joined(separator: ","))]}"#
}

func ring(_ text: String, place: String = "ring") throws -> KeyRing {
    let secret = SecretBytes(copying: Array(text.utf8).span)
    return try KeyRing(parsingJWK: secret, place: place)
}

extension SecretBytes {
    var copied: [UInt8] {
        withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }
}

extension KeyRing {
    var vaultKeyBytes: [[UInt8]] { vaultKeys.map { $0.secret.copied } }
    var ids: [String] { vaultKeys.map(\.id.description) + contentKeys.map(\.id.description) }
}

/// The error that `body` throws; nil when it succeeds.
func failure(_ body: () async throws -> Void) async -> VaultError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? VaultError
    }
}
