public import SystemPackage
public import VaultErrors

/// A log: each line is appended by one call, so that those of several processes don't mix. Not saved to the disk.
public enum AppendedFile {
    public static func append(_ line: [UInt8], to path: FilePath, permissions: UInt16) throws(VaultError) {
        do {
            let file = try FileDescriptor.open(
                path, .writeOnly, options: [.append, .create, .closeOnExec, .noFollow],
                permissions: FilePermissions(rawValue: CInterop.Mode(permissions)))
            try file.closeAfter { _ = try file.writeAll(line) }
        } catch {
            throw VaultError(
                .io, "can't append to it (\(error))", at: path.string,
                remedy: "check the disk and the permissions")
        }
    }
}
