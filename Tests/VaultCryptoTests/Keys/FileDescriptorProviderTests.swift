import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("Inherited file descriptors") struct FileDescriptorProviderTests {
    let key = SampleKey(value: 7)

    /// A pipe with a text; its read end is inherited, or closes on exec.
    func pipe(_ text: String, inherited: Bool) throws -> FileHandle {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        let number = pipe.fileHandleForReading.fileDescriptor
        #expect(fcntl(number, F_SETFD, inherited ? 0 : FD_CLOEXEC) == 0)
        return pipe.fileHandleForReading
    }

    @Test("a SPEC reads inherited file descriptors")
    func inherited() async throws {
        let end = try pipe(key.vaultJWK("one"), inherited: true)
        let provider = try KeySpec(parsing: "fd:\(end.fileDescriptor)").provider()
        #expect(try await provider.keys(for: KeyID("one")).vaultKeyBytes == [key.bytes])
        #expect(fcntl(end.fileDescriptor, F_GETFD) == 0, "the caller's descriptor was closed")
    }

    @Test("a SPEC refuses file descriptors that this program opened, and closed ones")
    func notInherited() async throws {
        let end = try pipe(key.vaultJWK("one"), inherited: false)
        for number in [end.fileDescriptor, 987_654] {
            let error = await failure { _ = try KeySpec(parsing: "fd:\(number)").provider() }
            #expect(error?.category == .key)
            #expect(error?.place == "file descriptor \(number)")
        }
        let error = await failure { _ = try FileDescriptorKeyProvider(descriptor: 987_654) }
        #expect(error?.category == .key)
    }

    @Test("every lookup throws the same error")
    func malformed() async throws {
        let end = try pipe("{", inherited: true)
        let provider = try FileDescriptorKeyProvider(descriptor: end.fileDescriptor)
        let first = await failure { _ = try await provider.allKeys() }
        #expect(first?.category == .key)
        #expect(await failure { _ = try await provider.allKeys() } == first)
    }
}
