import SealedPack
import Synchronization
import Testing
import VaultFileSystem

@testable import AssetVault

/// What requests have in access, as other processes read it.
@Suite(.timeLimit(.minutes(5))) struct AccessNotesTests {
    /// While a note is replaced, at every moment it says what is in access.
    @Test func aNoteIsReplaced() async throws {
        let scratch = try ScratchFolder(in: "/dev/shm")
        let notes = AccessNotes(layout: StoreLayout(root: scratch.path.appending("store")))
        let id = try PackID("level")
        let note = AccessNotes.Note(process: .current, tags: ["level"], packs: [id: 1000])
        let posted = try notes.post(note)
        let isOver = Flag()
        let replaced = Mutex(0)
        async let replacing: Void = {
            defer { isOver.set() }
            while !isOver.isSet {
                try posted.replace(by: note)
                replaced.withLock { $0 += 1 }
            }
        }()
        var (read, missed) = (0, 0)
        while !isOver.isSet, read < 500 || replaced.withLock({ $0 }) <= 10 {
            if try notes.current().allSatisfy({ $0.packs[id] != 1000 }) { missed += 1 }
            read += 1
            await Task.yield()
        }
        isOver.set()
        try await replacing
        #expect(missed == 0, "\(missed) of \(read)")
        #expect(try notes.current() == [note])
        withExtendedLifetime(posted) {}
    }
}
