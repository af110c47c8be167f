import Synchronization
package import VaultBase

/// Asks for one key at a time, and uses all that an answer holds: each further key saves the next lookup of its ID, and no other, so
/// that a key which is looked up again is asked for again. A command or a service that answers with a set is asked once for all of it.
package final class KeyAnswers: Sendable {
    private let turn = AsyncSemaphore(1)
    private let further = Mutex(KeyRing())

    package init() {}

    /// - Parameter ask: returns the key, if there is one, and any others.
    package func keys(
        for id: KeyID, asking ask: () async throws(VaultError) -> KeyRing
    ) async throws(VaultError) -> KeyRing {
        try await turn.withPermit(for: "key '\(id)'") { () throws(VaultError) in
            let known = further.withLock { $0.take(id) }
            if !known.isEmpty { return known }
            var answer = try await ask()
            let found = answer.take(id)
            further.withLock { $0 = answer }
            return found
        }
    }
}

extension KeyRing {
    /// Removes the keys with this ID, and returns them.
    fileprivate mutating func take(_ id: KeyID) -> KeyRing {
        let taken = keys(for: id)
        self = removing(id)
        return taken
    }
}
