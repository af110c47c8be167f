import StrictJSON
import Synchronization
import VaultErrors
import VaultFileSystem

/// A note of ``AccessNotes`` that counts as long as the object lives; where it was kept across `exec`, as long as that program.
final class PostedNote: Sendable {
    private let layout: StoreLayout
    private let note: AccessNotes.Note
    private let file: Mutex<ScratchFile>

    init(_ note: AccessNotes.Note, in layout: StoreLayout) throws(VaultError) {
        self.layout = layout
        self.note = note
        file = Mutex(try Self.write(note, in: layout))
    }

    private static func write(
        _ note: AccessNotes.Note, in layout: StoreLayout
    ) throws(VaultError) -> ScratchFile {
        let file = try ScratchFile(for: layout.access.appending("request"))
        try file.file.write(JSONValue.object(note.json).compact().span, at: 0)
        return file
    }

    /// Readers that come meanwhile see either note, or both.
    func replace(by note: AccessNotes.Note) throws(VaultError) {
        try file.withLock { (file) throws(VaultError) in file = try Self.write(note, in: layout) }
    }

    /// Keeps the note across `exec`, for the program that this process becomes.
    func keepOpenAcrossExec(named name: String) throws(VaultError) {
        let process = ProcessDescription(number: note.process.number, command: name)
        try replace(by: AccessNotes.Note(process: process, tags: note.tags, packs: note.packs))
        try file.withLock { (file) throws(VaultError) in try file.file.keepOpenAcrossExec() }
    }
}
