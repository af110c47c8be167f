import Synchronization
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Two voices: answers go to standard output, all other talk to standard error.
///
/// A line of text is escaped here, and only here: names that a site, a pack or a folder holds never drive the terminal, and
/// a newline in one of them makes no line of its own. So an answer of several lines is several calls.
enum Console {
    /// The first answer that standard output did not take.
    private static let lost = Mutex<VaultError?>(nil)

    static func answer(_ line: String) {
        answer(bytes: Array((line.escapingControls + "\n").utf8))
    }

    /// An answer that is no text for people, such as JSON or a file's content, as it is.
    static func answer(bytes: [UInt8]) {
        do throws(VaultError) {
            try OutputRule.standardOutput().writeNext(bytes.span)
        } catch {
            lost.withLock { $0 = $0 ?? error }
        }
    }

    /// Throws when an answer was lost: a full disk is a failure here as anywhere.
    static func requireAnswered() throws(VaultError) {
        if let error = lost.withLock({ $0 }) { throw error }
    }

    static func note(_ line: String) {
        write(line.escapingControls + "\n")
    }

    static func error(_ error: VaultError) {
        note("assetvault: \(error)")
    }

    /// Puts a line of progress in the place of the one before it; an empty one clears it.
    static func redraw(_ line: String) {
        write("\r\u{1B}[K" + line.escapingControls)
    }

    private static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}

extension Console {
    /// Notes which metadata was written, and how it is to be uploaded.
    static func wrote(_ files: [String]) {
        guard !files.isEmpty else { return note("nothing changed") }
        let list = files.count > 12 ? "\(files.count) files of metadata" : files.joined(separator: ", ")
        note(
            "wrote \(list); upload new files of targets/ and metadata/ first, then timestamp.json, then new N.root.json"
        )
    }
}
