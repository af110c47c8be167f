import SystemPackage
import Testing

/// Hostile archives, made with Python.
struct HostileArchiveTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    /// Python that adds to a tar `t`, with what the refusal names.
    static let tars: [(script: String, named: String)] = [
        ("file('/etc/evil')", "/etc/evil"), ("file('../evil')", "../evil"),
        ("file('a/../../evil')", "a/../../evil"),
        ("file('a/./b')", "a/./b"), ("file('a//b')", "a//b"), ("file('a\\\\b')", "a"),
        ("file('a\\nb')", #"a\nb"#),
        ("file('a\\x1b[2J')", #"a\u{1B}[2J"#),
        ("file(b'a\\xff'.decode('utf-8', 'surrogateescape'))", "UTF-8"),
        ("file('x'); file('x')", "'x'"), ("file('x'); file('X')", "'X'"),
        ("file('é'); file('e\\u0301')", "normalisation"),
        ("file('x'); file('x/y')", "x"), ("file('x/y'); file('x')", "x"), ("file('d/' * 64 + 'f')", "64"),
        ("file('n' * 256)", "255"), ("file('/'.join(['n' * 200] * 21))", "4,096"),
        ("entry('link', tarfile.SYMTYPE, '/etc/passwd')", "link"),
        ("entry('link', tarfile.SYMTYPE, 'x'); file('link/y')", "link"),
        ("file('x'); entry('hard', tarfile.LNKTYPE, 'x')", "hard"),
        ("entry('hard', tarfile.LNKTYPE, '/etc/passwd')", "hard"),
        ("entry('pipe', tarfile.FIFOTYPE)", "pipe"), ("entry('char', tarfile.CHRTYPE)", "char"),
        ("entry('block', tarfile.BLKTYPE)", "block"),
    ]

    /// The same for a zip `z`.
    static let zips: [(script: String, named: String)] = [
        ("z.writestr('/etc/evil', 'x')", "/etc/evil"), ("z.writestr('../evil', 'x')", "../evil"),
        ("z.writestr('a/../../evil', 'x')", "a/../../evil"), ("z.writestr('a\\\\b', 'x')", "a"),
        ("z.writestr('a\\x07b', 'x')", #"a\u{07}b"#), ("z.writestr('C:\\\\evil', 'x')", "C:"),
        ("z.writestr('x', '1'); z.writestr('x', '2')", "'x'"),
        ("z.writestr('x', '1'); z.writestr('X', '2')", "'X'"),
        (
            "i = zipfile.ZipInfo('link'); i.create_system = 3; i.external_attr = 0o120777 << 16; z.writestr(i, '/etc/passwd')",
            "link"
        ),
        (
            "i = zipfile.ZipInfo('pipe'); i.create_system = 3; i.external_attr = 0o010644 << 16; z.writestr(i, '')",
            "pipe"
        ),
    ]

    private func refuses(_ script: String, _ archive: String, naming name: String) async throws {
        try await Tool.run(["python3", "-W", "ignore", "-c", script, sample[archive]]).succeeded()
        try await Tool.run("mkdir", sample["outer"])
        try await sample.unchanged {
            // Two folders down, so that files outside it would be found.
            try await sample.run("seal \(sample[archive]) -o $WORK/outer/x.avpack --id x $KEYS").failed(
                65, naming: name)
        }
    }

    @Test(arguments: tars) func refusesAHostileTar(script: String, named: String) async throws {
        let python = """
            import io, sys, tarfile
            t = tarfile.open(sys.argv[1], 'w', format=tarfile.PAX_FORMAT)
            def entry(name, type, link=''):
                i = tarfile.TarInfo(name); i.type = type; i.linkname = link; t.addfile(i)
            def file(name):
                i = tarfile.TarInfo(name); i.size = 1; t.addfile(i, io.BytesIO(b'x'))
            file('honest')
            \(script)
            t.close()
            """
        try await refuses(python, "hostile.tar", naming: named)
        // The same through a pipe.
        let archive = try sample.bytes("hostile.tar")
        try await sample.unchanged {
            try await sample.run("seal - -o $WORK/outer/x.avpack --id x $KEYS", input: archive).failed(
                65, naming: named)
        }
    }

    @Test(arguments: zips) func refusesAHostileZip(script: String, named: String) async throws {
        let python = """
            import sys, zipfile
            z = zipfile.ZipFile(sys.argv[1], 'w')
            z.writestr('honest', 'x')
            \(script)
            z.close()
            """
        try await refuses(python, "hostile.zip", naming: named)
    }

    @Test(arguments: ["tar", "tar.gz", "tar.xz", "tar.zst", "tar.bz2", "zip", "7z"])
    func refusesATruncatedArchive(ending: String) async throws {
        let name = "level.\(ending)"
        switch ending {
        case "zip":
            try await Tool.run(
                "zip", "-qr", sample[name], ".", workingDirectory: FilePath(sample.level))
        case "7z":
            try await Tool.run(
                "7z", "a", "-bd", sample[name], ".", workingDirectory: FilePath(sample.level))
        default: try await Tool.run("tar", "caf", sample[name], "-C", sample.level, ".")
        }
        let bytes = try sample.bytes(name)
        for count in [100, bytes.count / 2, bytes.count * 9 / 10] {
            try sample.write(name, Array(bytes.prefix(count)))
            try await sample.unchanged {
                try await sample.run("seal \(sample[name]) -o $PACK $KEYS").failed(65, naming: name)
            }
        }
    }
}
