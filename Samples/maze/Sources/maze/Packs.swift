import AssetVault

/// The packs of the game, and how one is made ready.
struct Packs: Sendable {
    let client: VaultClient
    let downloader: PackDownloader

    init(_ configuration: VaultConfiguration) throws(VaultError) {
        client = try VaultClient(configuration)
        downloader = try PackDownloader(configuration)
    }

    /// Makes a level ready to be played. A loaded level needs nothing, a waiting one its key but no network; others are
    /// downloaded, or their download is resumed.
    ///
    /// - Parameter patience: how long to wait for a key that is not there yet.
    func prepare(_ level: Level, patience: Duration = .zero) async throws(VaultError) {
        let status = try await client.store.status(of: level.id)
        if status.loadedVersion != nil { return }
        switch level.form {
        case .opened:
            try await client.ensureLocalAvailability(of: level.id)
        case .sealed:
            // Preloaded beside the game, or now.
            if status.waitingVersion == nil {
                let report = try await downloader.run(.periodic)
                if let error = report.firstError { throw error }
            }
            try await client.unlock([level.id], as: level.form, patience: patience)
        }
    }

    /// Fetches newer versions of stored levels, each in its present form. An unreachable host delays nobody.
    ///
    /// - Parameter played: a level that the player is in stays as it is.
    func update(besides played: PackID?) async {
        do throws(VaultError) {
            let updated = try await client.checkForUpdates().updated.filter { $0 != played }
            try await client.ensureLocalAvailability(of: updated, requireLatest: true)
        } catch {
            Console.note("no update: \(error)")
        }
    }

    /// The maze of a level that is ready: an opened one is read at once, as one version, a sealed one on demand.
    func board(of level: Level) async throws(VaultError) -> Board {
        let path = try EntryPath("maze.txt")
        switch level.form {
        case .opened: return Board(whole: try await client.store.contents(of: path, in: level.id))
        case .sealed: return try await Board(inPlace: client.store.reader(of: path, in: level.id))
        }
    }

    func story(of level: Level) async throws(VaultError) -> String {
        let text = try await client.store.contents(of: EntryPath("story.txt"), in: level.id)
        return String(decoding: text, as: UTF8.self).escapingControls
    }
}
