import Glibc
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// What the plugin EmbeddedKeys runs: reads the keys that a target declares, and writes Swift source with their shares.
@main struct EmbeddedKeysTool {
    static func main() {
        do throws(VaultError) {
            try ProcessSettings.hideMemory()
            SecureHeap.initialise(bytes: 1 << 20)
            let arguments = CommandLine.arguments
            guard arguments.count == 5 else {
                throw VaultError(
                    .usage, "four arguments are needed", at: "EmbeddedKeysTool",
                    remedy: "let the plugin EmbeddedKeys run it")
            }
            let keys = try DeclaredKeys(of: arguments[1], in: FilePath(arguments[2]))
            try EmbeddedSource(path: FilePath(arguments[3])).update(with: keys)
            // An input of this run, so that the next build runs it, too.
            let stamp = try SecureRandom.bytes(32)
            try CachedFile.write(stamp.span, to: FilePath(arguments[4]), permissions: 0o600)
        } catch {
            _ = try? FileDescriptor.standardError.writeAll(Array("error: \(error)\n".utf8))
            exit(1)
        }
    }
}
