import SealedPack
import Synchronization
import SystemPackage
import VaultBase
import VaultFileSystem

/// The packs that requests have in access, noted for other processes: one file a request, locked by its process, so that the note
/// of a killed process no longer counts. The notes only inform: it is the ``PackLease``s that keep other processes from removing
/// the packs.
struct AccessNotes {
    let layout: StoreLayout

    /// What one request has in access.
    struct Note: Sendable, Hashable {
        let process: ProcessDescription
        let tags: [String]
        /// Bytes once opened, by pack.
        var packs: [PackID: UInt64]
        /// Whether the access is over, and the process still runs.
        var hasEnded = false
    }

    private static let limit = 16 << 20
    /// How often notes are read again because one of them is gone.
    private static let attempts = 100

    func post(_ note: Note) throws(VaultError) -> PostedNote {
        try FileSystem.createFolders(layout.access, permissions: AreaPermissions.permanent.folders)
        // What ended requests of killed processes left.
        _ = try? all()
        return try PostedNote(note, in: layout)
    }

    /// What living processes have in access.
    func current() throws(VaultError) -> [Note] { try all().filter { !$0.hasEnded } }

    /// The packs that living processes have requested, whether or not they have them in access now.
    func requestedByRunning() throws(VaultError) -> Set<PackID> { Set(try all().flatMap(\.packs.keys)) }

    /// The notes of all living processes. Notes of ended processes are removed; their packs count as used until now, because the
    /// time of the end is not known.
    private func all() throws(VaultError) -> [Note] {
        guard try FileSystem.exists(layout.access) else { return [] }
        let folder = try Folder(opening: layout.access)
        let notes = try notes(in: folder)
        _ = try? folder.removeAbandonedScratch()
        let names = Set(try folder.names())
        let gone = notes.filter { !names.contains($0.key) }
        if gone.isEmpty { return Array(notes.values) }
        for note in gone.values where !note.hasEnded {
            for id in note.packs.keys { LastUse.noteNow(id, in: layout) }
        }
        // One of them may have been replaced.
        return Array(try self.notes(in: folder).values)
    }

    /// Notes by the names of their files. Of a note that is replaced meanwhile, either the old or the new one is included.
    private func notes(in folder: borrowing Folder) throws(VaultError) -> [[UInt8]: Note] {
        var found: [[UInt8]: Note] = [:]
        for _ in 0..<Self.attempts {
            found = [:]
            var isOfOneMoment = true
            for name in try folder.names() {
                let path = layout.access.appending(String(decoding: name, as: UTF8.self))
                do throws(VaultError) {
                    let bytes = try DurableFile.read(path, limit: Self.limit)
                    let json = try JSONValue(parsing: bytes.span, place: path.string)
                    found[name] = try Note(parsing: json.asObject(at: path.string), place: path.string)
                } catch {
                    guard !error.isOpenFileLimit else { throw error }
                    // One that is being written says nothing yet.
                    if error.category == .missing { isOfOneMoment = false }
                }
            }
            if isOfOneMoment { break }
        }
        return found
    }
}

extension AccessNotes.Note {
    /// Of this process.
    init(of packs: [PackManifest], _ tags: Set<String>) {
        self.init(
            process: .current, tags: tags.sorted(),
            packs: Dictionary(packs.map { ($0.id, $0.openedSize) }) { first, _ in first })
    }

    var json: JSONObject {
        let packs = packs.map { ($0.key.description, JSONValue.integer(Int64(clamping: $0.value))) }
        return [
            "process": .integer(Int64(process.number)), "command": .string(process.command.escapingControls),
            "tags": .array(tags.map(JSONValue.string)), "packs": .object(JSONObject(lastWins: packs)),
            "ended": .bool(hasEnded),
        ]
    }

    fileprivate init(parsing json: JSONObject, place: String) throws(VaultError) {
        process = ProcessDescription(
            number: Int32(clamping: try json.integer("process", at: place)),
            command: try json.string("command", at: place))
        var tags: [String] = []
        for tag in try json.optionalArray("tags", at: place) ?? [] {
            tags.append(try tag.asString(at: place))
        }
        self.tags = tags
        var packs: [PackID: UInt64] = [:]
        for (name, size) in try json.object("packs", at: place) {
            guard case .integer(let size) = size else { continue }
            packs[try PackID(name)] = UInt64(clamping: size)
        }
        self.packs = packs
        hasEnded = json["ended"] == .bool(true)
    }
}

/// A process, as people know it.
public struct ProcessDescription: Sendable, Hashable {
    public let number: Int32
    /// The name of its program.
    public let command: String
}

extension ProcessDescription {
    static var current: Self {
        Self(number: ProcessEnvironment.processNumber, command: ProcessEnvironment.programName)
    }
}

extension AccessNotes.Note: CustomStringConvertible {
    /// Bytes once opened.
    fileprivate var size: UInt64 { packs.values.saturatingSum(\.self) }

    var description: String {
        "'\(tags.joined(separator: " ").excerpt)' with \(size) in \(process.command) (\(process.number))"
    }
}

extension AccessNotes {
    /// How many are named when there is no room.
    private static let shownHolders = 4

    /// Throws `.accessLimit` where the packs of a note and those in access already have more bytes than this.
    func requireRoom(for note: Note, within limit: UInt64) throws(VaultError) {
        let present = try current()
        var packs: [PackID: UInt64] = [:]
        for other in present { packs.merge(other.packs, uniquingKeysWith: max) }
        let used = packs.values.saturatingSum(\.self)
        packs.merge(note.packs, uniquingKeysWith: max)
        let wanted = packs.values.saturatingSum(\.self)
        guard wanted > limit else { return }
        let holders = present.sorted { $0.size > $1.size }.map(\.description)
        let shown = holders.prefix(Self.shownHolders) + (holders.count > Self.shownHolders ? ["others"] : [])
        let now = holders.isEmpty ? "" : "; \(used) are in access now: \(shown.joined(separator: ", "))"
        // The end of other access would not be enough.
        let isTooLargeAlone = note.size > limit
        throw VaultError(
            .accessLimit, "\(wanted) bytes would be in access, more than the limit of \(limit)\(now)",
            at: note.tags.joined(separator: ", "),
            remedy: isTooLargeAlone
                ? "raise the limit, or ask for fewer tags at a time"
                : "end the access to tags that are not needed",
            hint: isTooLargeAlone ? .accessLimit : nil, missingBytes: wanted - limit)
    }
}

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

/// The packs whose access ended in this process, noted for other processes as long as it runs: of purgeable packs, those of
/// programs that don't run are removed first.
final class RequestedPacks: Sendable {
    private let notes: AccessNotes
    private let state = Mutex(State())

    private struct State {
        var note = AccessNotes.Note(process: .current, tags: [], packs: [:], hasEnded: true)
        var posted: PostedNote?
    }

    init(in layout: StoreLayout) { notes = AccessNotes(layout: layout) }

    /// A hint for others: where it can't be written, nothing fails.
    func add(_ packs: [PackID]) {
        state.withLock { state in
            let count = state.note.packs.count
            for id in packs { state.note.packs[id] = 0 }
            guard state.note.packs.count > count else { return }
            if let posted = state.posted {
                try? posted.replace(by: state.note)
            } else {
                state.posted = try? notes.post(state.note)
            }
        }
    }
}
