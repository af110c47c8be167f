import SystemPackage
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// A pipe that holds a command's whole answer until the command has ended, so that no buffer on the ordinary
/// heap ever does. What doesn't fit makes the command's own write fail, as the pipe never blocks.
struct AnswerPipe: ~Copyable, Sendable {
    private let outlet: OpenFile
    private let writable: OpenFile

    init(named place: String) throws(VaultError) {
        do throws(Errno) {
            let ends = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
            outlet = OpenFile(takingOwnershipOf: ends.readEnd.rawValue, named: FilePath(place))
            writable = OpenFile(takingOwnershipOf: ends.writeEnd.rawValue, named: FilePath(place))
        } catch {
            throw VaultError(
                .io, "no pipe can be made: \(error)", at: place, remedy: "close some files and try again")
        }
    }

    /// The end for the command's standard output.
    var inlet: FileDescriptor { FileDescriptor(rawValue: writable.descriptor) }

    /// What was written so far.
    ///
    /// The end of a pipe shows only when nobody can write any more, and a process that the command left behind
    /// may hold it open. So a zero byte, which JSON never holds, marks the end, and nothing is read beyond it.
    func content() throws(VaultError) -> SecretBytes {
        let place = outlet.path.string
        guard (try? inlet.writeAll([0])) != nil else {
            throw VaultError(
                .key, "the command wrote more than a pipe holds", at: place,
                remedy: "let it print only the key asked for")
        }
        return try SecretBytes(capacity: Self.byteLimit) { (room) throws(VaultError) in
            for count in 0..<Self.byteLimit {
                var byte: InlineArray<1, UInt8> = [0]
                var span = byte.mutableSpan
                guard try outlet.readNext(into: &span) == 1, byte[0] != 0 else { return count }
                room[count] = byte[0]
            }
            throw VaultError.tooLarge(place)
        }
    }

    /// Nothing that a pipe holds is longer.
    private static let byteLimit = KeyRing.byteLimit
}
