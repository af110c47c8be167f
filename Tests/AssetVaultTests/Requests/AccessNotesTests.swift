import SealedPack
import Testing
import VaultFileSystem

@testable import AssetVault

/// What requests have in access, as other processes read it.
@Suite(.timeLimit(.minutes(1))) struct AccessNotesTests {
    /// While a note is replaced, at every moment it says what is in access.
    @Test func aNoteIsReplaced() async throws {
        let scratch = try ScratchFolder(in: "/dev/shm")
        let notes = AccessNotes(layout: StoreLayout(root: scratch.path.appending("store")))
        let id = try PackID("level")
        let note = AccessNotes.Note(process: .current, tags: ["level"], packs: [id: 1000])
        let posted = try notes.post(note)
        let isOver = Flag()
        async let replacing = {
            var count = 0
            while !isOver.isSet {
                try posted.replace(by: note)
                count += 1
            }
            return count
        }()
        var missed = 0
        for _ in 0..<500 {
            if try notes.current().allSatisfy({ $0.packs[id] != 1000 }) { missed += 1 }
            await Task.yield()
        }
        isOver.set()
        let count = try await replacing
        #expect(count > 10 && missed == 0, "\(missed) of 500, replaced \(count) times")
        #expect(try notes.current() == [note])
        withExtendedLifetime(posted) {}
    }
}
