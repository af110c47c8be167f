import Testing

/// Everybody who reads a site: clients that know an earlier state of it and clients that come to it fresh, ours and
/// python-tuf, all from the first root on.
struct Readers {
    let world: World
    private let folder: TemporaryFolder
    private let root: String
    private let id: String
    private let number = Counter()

    /// Lets the clients see what is published now.
    init(of world: World, pack id: String = "level") async throws {
        self.world = world
        self.id = id
        folder = try TemporaryFolder()
        root = try folder.write("root.json", world.bytes("vault/site/metadata/1.root.json"))
        try await fetch(world.site, into: folder["store"]).succeeded()
        try folder.makeFolder("cache")
        try await judge(world.site, cache: folder["cache"]).succeeded()
    }

    /// Expects every reader to trust the site and to get the same one of these trees; returns which.
    @discardableResult
    func expectBelief(
        in site: String? = nil, seeing trees: [Tree], withPython: Bool = true, _ hint: String = "",
        at location: SourceLocation = #_sourceLocation
    ) async throws -> Int? {
        let site = site ?? world.site
        let round = try TemporaryFolder()
        try await folder.copy("store", to: round["old"])
        var seen: Set<Int?> = []
        for store in ["old", "new"] {
            let result = try await fetch(site, into: round[store])
            try #require(
                result.exitCode == 0, "\(store): \(result.errorText) \(hint)", sourceLocation: location)
            let tree = try await world.tree(of: id, in: round[store])
            seen.insert(trees.firstIndex(of: tree))
        }
        if withPython {
            try await folder.copy("cache", to: round["cache"])
            for cache in [round["cache"], nil] {
                let verdict = try await judge(site, cache: cache)
                #expect(verdict.exitCode == 0, "\(verdict.errorText) \(hint)", sourceLocation: location)
            }
        }
        #expect(seen.count == 1 && seen.first != .some(nil), "\(seen) \(hint)", sourceLocation: location)
        return seen.first ?? nil
    }

    /// Lets the clients that know a state see the one that is published now.
    func follow(withPython: Bool = true) async throws {
        try await fetch(world.site, into: folder["store"]).succeeded()
        if withPython { try await judge(world.site, cache: folder["cache"]).succeeded() }
    }

    private func fetch(_ site: String, into store: String) async throws -> CommandResult {
        try await world.run("fetch \(site) --store \(store) --trust \(root) $KEYS")
    }

    private func judge(_ site: String, cache: String?) async throws -> CommandResult {
        try await Judge.run(
            site, root: root, target: "packs/\(id).avpack", into: folder["download-\(number.next())"],
            cache: cache)
    }
}
