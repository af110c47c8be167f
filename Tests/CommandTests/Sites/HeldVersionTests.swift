import FaultServer
import SystemPackage
import Testing
import VaultFileSystem

/// Held versions that are updated, removed, damaged, repaired and fetched again.
@Suite(.timeLimit(.minutes(5))) struct HeldVersionTests {
    let world: World

    init() async throws {
        world = try await World("level", "other")
        try world.write("level/noise", Bytes.random(600_000, seed: 1))
        try await world.publish()
    }

    enum Form: String, CaseIterable { case opened, sealed }

    /// A version in use, as long as the value is there.
    private struct Reader: ~Copyable {
        private let version: OpenFile

        /// - Parameter path: Of a file, or of the folder of an opened pack.
        init(_ path: FilePath) throws {
            let opened = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
            let file = OpenFile(takingOwnershipOf: opened.rawValue, named: path)
            _ = try file.tryLock(exclusive: false)
            version = file
        }

        var isThere: Bool {
            get throws {
                let status = try version.status()
                return try status.kind == .folder ? FileSystem.exists(version.path) : status.hardLinks > 0
            }
        }

        consuming func end() {}
    }

    private func fetch(_ form: Form, _ url: String? = nil, _ id: String = "level") async throws
        -> CommandResult
    {
        try await world.fetch("--\(form.rawValue) \(id)", from: url)
    }

    private func live() async throws -> FilePath {
        let home = FilePath(world["store/permanent/level"])
        return home.appending(try #require(try Folder(opening: home).readLink("current")).string)
    }

    private func remove() async throws -> CommandResult {
        try await world.run("remove level $STORE")
    }

    private func damage(_ version: FilePath, _ form: Form) async throws {
        let file = form == .sealed ? version : version.appending("noise")
        try await Tool.run(
            "dd", "if=/dev/zero", "of=\(file)", "bs=1", "seek=300000", "count=16", "conv=notrunc")
    }

    /// Any command that reads the store removes it once the reader ends.
    @Test(arguments: Form.allCases, [true, false]) func isRemovedAfterUse(form: Form, isRemoved: Bool)
        async throws
    {
        try await fetch(form).succeeded()
        let version = try await live()
        let reader = try Reader(version)
        if isRemoved {
            try await remove().succeeded()
            #expect(try await world.status()["level"]?.state == "removing")
        } else {
            try world.write("level/noise", "version 2")
            try await world.publish()
            try await fetch(form).succeeded()
        }
        try await fetch(.opened, nil, "other").succeeded()
        #expect(try reader.isThere && FileSystem.exists(version))
        reader.end()
        try await fetch(.opened, nil, "other").succeeded()
        #expect(try !FileSystem.exists(version))
        if isRemoved { #expect(try await world.status()["level"]?.state == "absent") }
        #expect(try world.files(in: "permanent/@held") == [])
    }

    /// An undamaged version is restored without a download; a damaged one never becomes live.
    @Test(arguments: Form.allCases, [true, false]) func isFetchedAgain(form: Form, isDamaged: Bool)
        async throws
    {
        try await fetch(form).succeeded()
        let version = try await live()
        let reader = try Reader(version)
        if isDamaged { try await damage(version, form) }
        try await remove().succeeded()
        let server = try FaultServer(world.site)
        let result = try await fetch(form, server.url)
        if isDamaged {
            result.failed(75, naming: version.lastComponent?.string ?? "")
            #expect(try await world.status()["level"]?.version == nil)
        } else {
            try result.succeeded()
            #expect(try await live() == version)
            if form == .sealed { #expect(server.packs.isEmpty) }
        }
        #expect(try reader.isThere)
        reader.end()
        try await fetch(form, server.url).succeeded()
        #expect(try await live() == version)
        try await fetch(.opened).succeeded()
        try await world.expectLoaded("level")
    }

    /// The reader keeps the sealed file, which is reused.
    @Test func isSealedAgain() async throws {
        try await fetch(.sealed).succeeded()
        let version = try await live()
        let reader = try Reader(version)
        let server = try FaultServer(world.site)
        try await fetch(.opened, server.url).succeeded()
        #expect(try await live() != version)
        try await fetch(.sealed, server.url).succeeded()
        #expect(try await live() == version)
        #expect(try server.packs.isEmpty && reader.isThere)
        reader.end()
    }

    /// A reader keeps the damaged version after a repair.
    @Test(arguments: [true, false]) func afterARepair(withKeys: Bool) async throws {
        try await fetch(.sealed).succeeded()
        let version = try await live()
        let reader = try Reader(version)
        try await damage(version, .sealed)
        try await world.run("repair $SITE level $STORE").succeeded()
        #expect(try reader.isThere)
        try await remove().succeeded()
        #expect(try reader.isThere)
        try await world.fetch("level", withKeys: withKeys).succeeded()
        #expect(try reader.isThere)
        try await world.fetch().succeeded()
        #expect(try reader.isThere)
        reader.end()
        try await world.fetch().succeeded()
        #expect(try world.names(in: "store/permanent/level").allSatisfy { !$0.hasSuffix(".damaged") })
        try await world.run("repair $SITE level $STORE").succeeded()
    }

    @Test func aRepairOfAReadOnlyFile() async throws {
        try await fetch(.sealed).succeeded()
        let version = try await live()
        try await damage(version, .sealed)
        try await Tool.run("chmod", "0444", version.string)
        let reader = try Reader(version)
        try await world.run("repair $SITE level $STORE").succeeded()
        try await remove().succeeded()
        #expect(try reader.isThere)
        reader.end()
    }
}
