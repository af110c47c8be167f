import Testing

/// File names of the store that another user occupies: without a living process they block nobody.
extension TwoUsersTests {
    private func write(_ name: String, in area: String, mode: String, bytes: Int) async throws {
        try await shell(
            """
            head -c \(bytes) /dev/zero > '\(world.store)/\(area)/\(name)'
            chown \(downloader):\(group) '\(world.store)/\(area)/\(name)'
            chmod \(mode) '\(world.store)/\(area)/\(name)'
            """)
    }

    /// Abandoned files under all names of a download: they are removed, or another name is used.
    @Test(arguments: ["640", "600"]) func abandonedFilesUnderAllDownloadNames(mode: String) async throws {
        let digest = try digest()
        for name in ["avpack", "part", "2.part", "3.part", "4.part"] {
            try await write("\(digest).\(name)", in: "ephemeral", mode: mode, bytes: 300_000)
        }
        try await write("\(digest).wanted", in: "ephemeral", mode: "600", bytes: 0)
        try await fetch("--time 60").succeeded()
        try await expectLoaded(1)
    }

    /// Other kinds of files in place of the shared lock.
    @Test(arguments: ["mkdir", "mkfifo", "ln -s /etc/hostname", "install -m 600 -o 64002 /dev/null"])
    func theSharedLock(command: String) async throws {
        try await fetch().succeeded()
        let lock = "'\(world.store)/shared/@lock'"
        try await shell("rm -f \(lock); \(command) \(lock); chown -h \(downloader):\(group) \(lock)")
        try await run("status $STORE", as: app).succeeded()
        try await publish(2)
        try await fetch("--time 60").succeeded()
        try await expectLoaded(2)
    }
}
