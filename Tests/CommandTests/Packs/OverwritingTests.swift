import Foundation
import SystemPackage
import Testing

/// Existing outputs: files are replaced only with `--force`, folders never.
struct OverwritingTests {
    let bench: Bench
    init() throws { bench = try Bench() }

    private func seal(_ options: String...) async throws -> CommandResult {
        try await Command.run(["seal", bench.level, "-o", bench.pack] + bench.keys + options)
    }

    @Test(arguments: ["level.avpack", "level.avpack.json"])
    func sealReplacesFilesOnlyWhenForced(name: String) async throws {
        try bench.folder.write(name, "precious")
        try await bench.unchanged { try await seal().failed(73, naming: bench.folder[name], "--force") }
        try await seal("--force").succeeded()
        try await bench.open(into: bench.folder["opened"]).succeeded()
        try await expectSameTree(bench.level, bench.folder["opened"])
    }

    @Test(arguments: ["level.avpack", "level.avpack.json"])
    func sealReplacesNoFolder(name: String) async throws {
        try bench.folder.makeFolder(name)
        try await bench.unchanged {
            try await seal().failed(73, naming: bench.folder[name])
            try await seal("--force").failed(73, naming: bench.folder[name])
        }
    }

    @Test func packAndManifestMustBeDifferentFiles() async throws {
        try await bench.unchanged {
            try await seal("--manifest", bench.pack).failed(64, naming: bench.pack)
            try await seal("--force", "--manifest", bench.pack).failed(64, naming: bench.pack)
        }
    }

    @Test func aFailedSealKeepsTheOldFiles() async throws {
        try await seal().succeeded()
        try await Tool.run("ln", "-s", "nothing", bench.folder["level/link"])
        try await bench.unchanged { try await seal("--force").failed(65, naming: "link") }
    }

    @Test func openFillsAnEmptyFolder() async throws {
        try await seal().succeeded()
        let opened = try bench.folder.makeFolder("opened")
        try await bench.open(into: opened + "/").succeeded()
        try await expectSameTree(bench.level, opened)
    }

    @Test(arguments: ["file", "folder", "hidden", "link"]) func openReplacesNothingElse(name: String)
        async throws
    {
        try await seal().succeeded()
        try bench.folder.write("file", "precious")
        try bench.folder.write("folder/file", "precious")
        try bench.folder.write("hidden/.file", [])
        try await Tool.run("ln", "-s", "folder", bench.folder["link"])
        try await bench.unchanged {
            try await bench.open(into: bench.folder[name]).failed(73, naming: bench.folder[name])
            let forced = ["open", bench.pack, "-o", bench.folder[name], "--force"]
            try await Command.run(forced + bench.keys).failed(64, naming: "folders")
        }
    }

    @Test func openReplacesATarOnlyWhenForced() async throws {
        try await seal().succeeded()
        let open = ["open", bench.pack, "--tar", bench.folder["out.tar"]] + bench.keys
        try bench.folder.write("out.tar", "precious")
        try await bench.unchanged {
            try await Command.run(open).failed(73, naming: bench.folder["out.tar"], "--force")
        }
        try await Command.run(open + ["--force"]).succeeded()
        try await Tool.run("tar", "tf", bench.folder["out.tar"])
        try bench.folder.makeFolder("folder.tar")
        try await bench.unchanged {
            try await Command.run(
                ["open", bench.pack, "--tar", bench.folder["folder.tar"], "--force"] + bench.keys
            )
            .failed(73, naming: bench.folder["folder.tar"])
        }
    }

    enum Special: String, CaseIterable { case pipe, link, danglingLink, socket, device }

    /// Makes a special file. Only root makes devices.
    private func make(_ special: Special) async throws -> String? {
        let path = bench.folder[special.rawValue]
        switch special {
        case .pipe: try await Tool.run("mkfifo", path)
        case .link:
            try bench.folder.write("precious", "precious")
            try await Tool.run("ln", "-s", "precious", path)
        case .danglingLink: try await Tool.run("ln", "-s", "nowhere", path)
        case .socket:
            try await Tool.run(
                "python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])",
                special.rawValue, workingDirectory: bench.folder.path)
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
        try await bench.unchanged {
            for command in [
                ["seal", bench.level, "-o", target], ["open", bench.pack, "--tar", target],
                ["seal", bench.level, "-o", bench.folder["new"], "--manifest", target],
                ["seal", bench.level, "-o", "-", "--manifest", target],
            ] {
                for force in [[], ["--force"]] {
                    let run = command + force + bench.keys
                    try await Command.run(run).failed(73, naming: target, "no regular file")
                }
            }
        }
    }

    @Test(arguments: ["absent/out", "vault.jwks/out"]) func outputNeedsAnExistingFolder(output: String)
        async throws
    {
        try await seal().succeeded()
        let output = bench.folder[output]
        try await bench.unchanged {
            try await Command.run(["seal", bench.level, "-o", output] + bench.keys).failed(73)
            try await bench.open(into: output).failed(73)
            try await Command.run(["open", bench.pack, "--tar", output] + bench.keys).failed(73)
            try await Command.run("keygen", "-o", output).failed(73)
        }
    }
}
