import Synchronization
import SystemPackage
import VaultBase
import VaultFileSystem
import VaultSite

/// Output: answers go to standard output, everything else to standard error, where `ProgressOutput` may make lines of JSON of it.
///
/// Text is escaped here, and only here: names from a site, a pack or a folder can't send terminal controls, and a
/// newline in a name can't forge a line. An answer of several lines is therefore several calls.
enum Console {
    /// The first error of standard output.
    private static let lost = Mutex<VaultError?>(nil)

    static func answer(_ line: String) {
        answer(bytes: Array((line.escapingControls + "\n").utf8))
    }

    /// An answer that is not a line of text, such as JSON or a file's content, unchanged.
    static func answer(bytes: [UInt8]) {
        do throws(VaultError) {
            try StandardStreams.output().writeNext(bytes.span)
        } catch {
            lost.withLock { $0 = $0 ?? error }
        }
    }

    static func answer(json: JSONObject) { answer(bytes: JSONValue.object(json).pretty()) }

    /// Throws when an answer could not be written, for example to a full disk.
    static func requireAnswered() throws(VaultError) {
        if let error = lost.withLock({ $0 }) { throw error }
    }

    static func note(_ line: String) {
        if ProgressOutput.note(line) { return }
        write(line.escapingControls + "\n")
    }

    static func error(_ error: VaultError) {
        note("assetvault: \(error.worded)")
    }

    static func warn(of findings: [Finding]) {
        for finding in findings { note("warning: \(finding.worded)") }
    }

    /// Of a file whose content does not count.
    static func warn(ofDamaged file: VaultError) { note("warning: \(file.worded); it counts as empty") }

    /// Replaces the line of progress; an empty one clears it.
    static func redraw(_ line: String) {
        write("\r\u{1B}[K" + line.escapingControls)
    }

    private static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}

extension Console {
    /// Prints which metadata were written, and what to do with the site now.
    ///
    /// - Parameter isOfTeam: whether another vault publishes the site.
    static func wrote(_ files: [String], isOfTeam: Bool = false) {
        guard !files.isEmpty else { return note("nothing changed") }
        let list = list(of: files)
        if isOfTeam {
            return note("wrote \(list); give site/ to the publisher of the site that lists the team")
        }
        note("wrote \(list); 'assetvault upload' brings the site to its host")
    }

    /// Says of a dry run what the same command without it writes.
    static func wroteNothing(but files: [String]) {
        let rest = files.isEmpty ? "nothing is to be" : "without --dry-run it is \(list(of: files))"
        note("nothing was signed or written; \(rest)")
    }

    private static func list(of files: [String]) -> String {
        files.count > 12 ? "\(files.count) files of metadata" : files.joined(separator: ", ")
    }

    /// Says which of several channels lists the packs that were reported.
    static func noteListing(in channel: Channel, isDryRun: Bool) {
        note(
            "the channel '\(channel)' \(isDryRun ? "would list" : "lists") this; other channels list what they did"
        )
    }
}

/// The streams of this process, for `-`.
enum StandardStreams {
    static func output() throws(VaultError) -> OpenFile {
        try OpenFile(duplicating: 1, named: "standard output")
    }

    static func input() throws(VaultError) -> OpenFile {
        try OpenFile(duplicating: 0, named: "standard input")
    }
}
