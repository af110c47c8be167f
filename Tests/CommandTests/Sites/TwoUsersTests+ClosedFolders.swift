import Sampling
import Testing

/// Folders of another user that can't be entered, read or removed are ignored.
extension TwoUsersTests {
    /// Where the downloader puts something in the way, and what of it is closed.
    static let closedPlaces = [
        "shared/packs", "shared/packs/level", "shared/packs/level/@x", "shared/packs/level/inner",
        "shared/@state", "shared/@state/level", "shared/@work", "shared/@trust", "ephemeral/DIGEST.part",
        "ephemeral/DIGEST.avpack", "ephemeral/DIGEST.wanted",
    ]

    /// Closed to all others, to changes, or listable without access to the entries.
    static let closedFolders =
        Sampling.pairs(closedPlaces, ["700", "755"], for: "closed places").sample(6, for: "closed folders")
        + Sampling.pairs(["shared/packs", "shared/packs/level"], ["000", "744"], for: "closed packs")

    @Test(arguments: closedFolders) func aClosedFolder(place: String, mode: String) async throws {
        try await fetch().succeeded()
        try await publish(2)
        let folder = try "\(world.store)/\(place.replacing("DIGEST", with: digest()))"
        let above = folder.split(separator: "/").dropLast().joined(separator: "/")
        try await shell(
            """
            umask 007; rm -rf '\(folder)'
            [ -d '/\(above)' ] || install -d -m 2770 -o \(downloader) -g \(group) '/\(above)'
            install -d -m 2770 -o \(downloader) -g \(group) '\(folder)'
            install -d -m 700 -o \(downloader) '\(folder)/inner'
            touch '\(folder)/@file.avpack' '\(folder)/inner/file'
            chown -R \(downloader) '\(folder)'
            chmod \(mode) '\(folder)' '\(folder)/inner'
            """)
        _ = try await run("unlock $STORE \(keys)", as: app)
        try await fetch().succeeded()
        try await expectLoaded(2)
        try await publish(3)
        try await fetch("--dry-run").succeeded()
        try await fetch().succeeded()
        try await expectLoaded(3)
        try await run("remove level $STORE", as: app).succeeded()
        #expect(try await world.status()["level"]?.state == "absent")
        #expect(try world.files(in: "permanent/level") == [])
    }

    /// A file that only the other user may read, in the place of a pack.
    @Test(arguments: [
        "shared/packs/level/@DIGEST.avpack", "ephemeral/DIGEST.part", "ephemeral/DIGEST.avpack",
    ])
    func aClosedFile(name: String) async throws {
        try await fetch().succeeded()
        try await publish(2)
        let pack = try world.publishedPack("level")
        let path = try "\(world.store)/\(name.replacing("DIGEST", with: digest()))"
        let above = path.split(separator: "/").dropLast().joined(separator: "/")
        try await shell(
            """
            [ -d '/\(above)' ] || install -d -m 2770 -o \(downloader) -g \(group) '/\(above)'
            install -m 600 -o \(downloader) '\(world.site)/\(pack)' '\(path)'
            """)
        try await fetch("--dry-run").succeeded()
        try await fetch().succeeded()
        try await expectLoaded(2)
    }
}
