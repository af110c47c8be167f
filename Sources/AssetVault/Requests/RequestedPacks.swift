import SealedPack
import Synchronization
import VaultErrors

/// The packs whose access ended in this process, noted for other processes as long as it runs: of packs that may go, those of programs
/// that don't run go first.
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
