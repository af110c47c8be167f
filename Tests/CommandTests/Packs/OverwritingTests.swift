import Foundation
import SystemPackage
import Testing

/// Existing outputs: files are replaced only with `--force`, folders never.
struct OverwritingTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    private func seal(_ options: String...) async throws -> CommandResult {
        try await Command.run(["seal", samplePack.level, "-o", samplePack.pack] + samplePack.keys + options)
    }

    @Test(arguments: ["level.avpack", "level.avpack.json"])
    func sealReplacesFilesOnlyWhenForced(name: String) async throws {
        try samplePack.folder.write(name, "precious")
        try await samplePack.unchanged {
            try await seal().failed(73, naming: samplePack.folder[name], "--force")
        }
        try await seal("--force").succeeded()
        try await samplePack.open(into: samplePack.folder["opened"]).succeeded()
        try await expectSameTree(samplePack.level, samplePack.folder["opened"])
    }

    @Test(arguments: ["level.avpack", "level.avpack.json"])
    func sealReplacesNoFolder(name: String) async throws {
        try samplePack.folder.makeFolder(name)
        try await samplePack.unchanged {
            try await seal().failed(73, naming: samplePack.folder[name])
            try await seal("--force").failed(73, naming: samplePack.folder[name])
        }
    }

    @Test func packAndManifestMustBeDifferentFiles() async throws {
        try await samplePack.unchanged {
            try await seal("--manifest", samplePack.pack).failed(64, naming: samplePack.pack)
            try await seal("--force", "--manifest", samplePack.pack).failed(64, naming: samplePack.pack)
        }
    }

    @Test func aFailedSealKeepsTheOldFiles() async throws {
        try await seal().succeeded()
        try await Tool.run("ln", "-s", "nothing", samplePack.folder["level/link"])
        try await samplePack.unchanged { try await seal("--force").failed(65, naming: "link") }
    }

    @Test func openFillsAnEmptyFolder() async throws {
        try await seal().succeeded()
        let opened = try samplePack.folder.makeFolder("opened")
        try await samplePack.open(into: opened + "/").succeeded()
        try await expectSameTree(samplePack.level, opened)
    }

    @Test(arguments: ["file", "folder", "hidden", "link"]) func openReplacesNothingElse(name: String)
        async throws
    {
        try await seal().succeeded()
        try samplePack.folder.write("file", "precious")
        try samplePack.folder.write("folder/file", "precious")
        try samplePack.folder.write("hidden/.file", [])
        try await Tool.run("ln", "-s", "folder", samplePack.folder["link"])
        try await samplePack.unchanged {
            try await samplePack.open(into: samplePack.folder[name]).failed(
                73, naming: samplePack.folder[name])
            let forced = ["open", samplePack.pack, "-o", samplePack.folder[name], "--force"]
            try await Command.run(forced + samplePack.keys).failed(64, naming: "folders")
        }
    }

    @Test func openReplacesATarOnlyWhenForced() async throws {
        try await seal().succeeded()
        let open = ["open", samplePack.pack, "--tar", samplePack.folder["out.tar"]] + samplePack.keys
        try samplePack.folder.write("out.tar", "precious")
        try await samplePack.unchanged {
            try await Command.run(open).failed(73, naming: samplePack.folder["out.tar"], "--force")
        }
        try await Command.run(open + ["--force"]).succeeded()
        try await Tool.run("tar", "tf", samplePack.folder["out.tar"])
        try samplePack.folder.makeFolder("folder.tar")
        try await samplePack.unchanged {
            try await Command.run(
                ["open", samplePack.pack, "--tar", samplePack.folder["folder.tar"], "--force"]
                    + samplePack.keys
            )
            .failed(73, naming: samplePack.folder["folder.tar"])
        }
    }

    enum Special: String, CaseIterable { case pipe, link, danglingLink, socket, device }

    /// Makes a special file. Only root makes devices.
    private func make(_ special: Special) async throws -> String? {
        let path = samplePack.folder[special.rawValue]
        switch special {
        case .pipe: try await Tool.run("mkfifo", path)
        case .link:
            try samplePack.folder.write("precious", "precious")
            try await Tool.run("ln", "-s", "precious", path)
        case .danglingLink: try await Tool.run("ln", "-s", "nowhere", path)
        case .socket:
            try await Tool.run(
                "python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])",
                special.rawValue, workingDirectory: samplePack.folder.path)
        case .device:
            guard geteuid() == 0 else { return nil }
            try await Tool.run("mknod", path, "c", "1", "3")
        }
        return path
    }

    /// Such as `/dev/null`, which a rename would replace for the whole machine.
    @Test(arguments: Special.allCases) func onlyRegularFilesAreReplaced(special: Special) async throws {
        try await seal().succeeded()
        guard let target = try await make(special) else { return }
        try await samplePack.unchanged {
            for command in [
                ["seal", samplePack.level, "-o", target], ["open", samplePack.pack, "--tar", target],
                ["seal", samplePack.level, "-o", samplePack.folder["new"], "--manifest", target],
                ["seal", samplePack.level, "-o", "-", "--manifest", target],
            ] {
                for force in [[], ["--force"]] {
                    let run = command + force + samplePack.keys
                    try await Command.run(run).failed(73, naming: target, "no regular file")
                }
            }
        }
    }

    @Test(arguments: ["absent/out", "vault.jwks/out"]) func outputNeedsAnExistingFolder(output: String)
        async throws
    {
        try await seal().succeeded()
        let output = samplePack.folder[output]
        try await samplePack.unchanged {
            try await Command.run(["seal", samplePack.level, "-o", output] + samplePack.keys).failed(73)
            try await samplePack.open(into: output).failed(73)
            try await Command.run(["open", samplePack.pack, "--tar", output] + samplePack.keys).failed(73)
            try await Command.run("keygen", "-o", output).failed(73)
        }
    }
}
