import SystemPackage
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// A pipe that buffers a command's whole output in the kernel, so that no secret is on the ordinary heap. The pipe does
/// not block, so writing more than fits fails in the command.
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
                .io, "can't create a pipe: \(error)", at: place, remedy: "close some files and try again")
        }
    }

    /// The write end, for the command's standard output.
    var inlet: FileDescriptor { FileDescriptor(rawValue: writable.descriptor) }

    /// The bytes written so far.
    ///
    /// A process that the command left behind may keep the pipe open, so a zero byte, which JSON never contains, marks
    /// the end.
    func content() throws(VaultError) -> SecretBytes {
        let place = outlet.path.string
        guard (try? inlet.writeAll([0])) != nil else {
            throw VaultError(
                .key, "the command wrote more than a pipe holds", at: place,
                remedy: "let it print only the key asked for")
        }
        return try SecretBytes(capacity: Self.byteLimit) { (buffer) throws(VaultError) in
            for count in 0..<Self.byteLimit {
                var byte: InlineArray<1, UInt8> = [0]
                var span = byte.mutableSpan
                guard try outlet.readNext(into: &span) == 1, byte[0] != 0 else { return count }
                buffer[count] = byte[0]
            }
            throw VaultError.tooLarge(place)
        }
    }

    /// More than the capacity of a pipe.
    private static let byteLimit = KeyRing.byteLimit
}
