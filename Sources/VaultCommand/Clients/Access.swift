import ArgumentParser
import AssetVault
import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

struct Access: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "Run a program while it has the packs of some tags in access.",
        discussion: """
            The program and its arguments follow '--'. The program replaces this process, so it has its \
            process ID and gives the exit code. While it runs, no pack of the tags is removed or changed, \
            nor while a child runs that inherited its open files. A program that closes files which it did \
            not open ends the access. The variable ASSETVAULT_RESOURCES names a folder of links to all files \
            of the packs.

            Missing packs are downloaded from the site that --site names. Without it they must be loaded, or \
            wait for a key that --keys gives. Packs that are kept sealed are refused before anything is \
            downloaded. The program gets no key: the variable of env:NAME is unset, and the descriptor of \
            fd:N is closed (fd:0 becomes empty).

            With --record the program is a child of this process instead, and keeps its access if this process \
            is killed. Signals that end it end the program, which it waits for. FILE gets the paths of the \
            files that are opened meanwhile, in the order of their first use, one a line: a list for "first" in \
            vault.json. The kernel reports them (inotify), so other processes that open files of these packs \
            are recorded, too.

            EXAMPLE
              assetvault access level2 music --store ~/.game -- ./game --level 2
              assetvault access level2 --store ~/.game --record first.txt -- ./game
            """)

    /// Tags, and the words after `--`, which the parser adds.
    @Argument(help: ArgumentHelp("The tags; then '--' and the program.", valueName: "tag"))
    var words: [String]

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("Where missing packs are downloaded from.", valueName: "url"))
    var site: String?

    @OptionGroup var trust: TrustedRootOption
    @OptionGroup var view: ViewOptions

    @Option(
        help: ArgumentHelp(
            """
            The most bytes of opened packs that all programs may have in access together, such as 2GB (else \
            exit code 79).
            """,
            valueName: "bytes"))
    var inUse: ByteCount?

    @Option(
        help: ArgumentHelp("Record here which files are opened; a new file.", valueName: "file"),
        completion: .file())
    var record: String?

    @OptionGroup var network: MeteredOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var connection: TransportOptions
    @OptionGroup var progress: ProgressOption

    var tags: [String] { words.dropLast(GivenCommand.program.count) }

    func run() async throws {
        let command = GivenCommand.program
        guard let program = command.first else {
            throw VaultError(.usage, "no program is named", at: "access", remedy: "write it after --")
        }
        guard !tags.isEmpty else {
            throw VaultError(.usage, "no tag is named", at: "access", remedy: "name tags before --")
        }
        if let record { try OutputCheck.requireWritableFile(FilePath(record), replacing: false) }
        let access = try await access()
        let folder = try await access.makeFolder()
        try access.keepOpenAcrossExec(named: FilePath(program).lastComponent?.string ?? program)
        try folder.keepOpenAcrossExec()
        let path = folder.path.string
        let roots = record == nil ? nil : try RootList.file(of: access)
        let next =
            if let record, let roots {
                RecordAccess.words(for: command, list: record, roots: roots)
            } else { command }
        // It takes the place of this process, which writes nothing after this.
        ProgressOutput.end()
        try keys.noteInherited()
        try withExtendedLifetime((access, folder, roots)) { () throws(VaultError) in
            try ProcessReplacement.execute(next, setting: ["ASSETVAULT_RESOURCES": path])
        }
    }

    private func access() async throws(VaultError) -> ResourceAccess {
        guard let site else { return try await storedAccess() }
        var configuration = try view.configuration(
            of: SiteLocation(site), for: store.layout, trusting: trust.root()?.bytes, over: connection)
        configuration.keys = try keys.cachedProvider()
        configuration.policy.accessedSize = inUse?.bytes
        network.apply(to: &configuration)
        return try await FetchProgress().whileShowing(configuration) { client throws(VaultError) in
            try await client.requireKnownTraits()
            return try await client.linkableAccess(to: Set(tags))
        }
    }
}

/// Access to what the store has: no site is asked.
extension Access {
    func storedAccess() async throws(VaultError) -> ResourceAccess {
        let store = VaultStore(
            try store.existingLayout(), keys: try keys.cachedProvider(), trustedRoot: try trust.root()?.bytes,
            channel: try view.channel.channel, appVersion: try view.app.version,
            device: try view.device)
        let (tags, limit) = (Set(tags), inUse?.bytes)
        if let access = try await store.access(to: tags, within: limit) { return access }
        let unloaded = try await store.unloadedPacks(with: tags)
        if let unloaded, !keys.specs.isEmpty, !unloaded.ids.isEmpty, unloaded.ids == unloaded.waiting {
            try await FetchProgress().whileShowing { show throws(VaultError) in
                _ = try await store.unlock(unloaded.waiting, onUpdate: show)
            }
            if let access = try await store.access(to: tags, within: limit) { return access }
        }
        throw notLoaded(unloaded?.ids ?? [], unloaded?.waiting ?? [], in: store)
    }

    /// - Parameter ids: empty where it is not known which packs are missing.
    private func notLoaded(_ ids: [PackID], _ waiting: [PackID], in store: VaultStore) -> VaultError {
        let missing = ids.filter { !waiting.contains($0) }
        var problem = "not all packs of the tags are loaded"
        if !missing.isEmpty {
            problem += ": missing \(missing.count == 1 ? "is" : "are") \(store.list(missing))"
        }
        var remedies = ["name the site with --site, or fetch them"]
        if !waiting.isEmpty {
            problem += "\(missing.isEmpty ? ": " : ", and ")only a key is missing for \(store.list(waiting))"
            remedies = (missing.isEmpty ? [] : remedies) + ["give --keys"]
        }
        return VaultError(
            .missing, problem, at: tags.joined(separator: ", "),
            remedy: remedies.joined(separator: "; for packs that wait for a key, "))
    }
}
