/// What was waited for did not come about.
struct WaitedInVain: Error, CustomStringConvertible {
    let what: String
    let place: String

    var description: String { "\(place) waited in vain for \(what)" }
}

/// Returns when something has come about. What does not within the limit never does.
public func wait(
    for what: String, within limit: Duration = .seconds(120), file: String = #fileID, line: Int = #line,
    until isReached: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !isReached() {
        if ContinuousClock.now > deadline { throw WaitedInVain(what: what, place: "\(file):\(line)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
