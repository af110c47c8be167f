import SystemPackage
import Testing

/// A folder and every archive of it seal to the same bytes.
struct SourceKindTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    static let archives: [(name: String, arguments: [String])] = [
        ("level.tar", ["tar", "cf"]), ("level.tar.gz", ["tar", "czf"]), ("level.tar.bz2", ["tar", "cjf"]),
        ("level.tar.xz", ["tar", "cJf"]), ("level.tar.zst", ["tar", "--zstd", "-cf"]),
        ("ustar.tar", ["tar", "--format=ustar", "-cf"]), ("pax.tar", ["tar", "--format=posix", "-cf"]),
        ("old.tar", ["tar", "--format=oldgnu", "-cf"]), ("bsd.tar", ["bsdtar", "--format=pax", "-cf"]),
        ("level.zip", ["zip", "-qr"]), ("stored.zip", ["zip", "-qr0"]),
        ("bsd.zip", ["bsdtar", "--format=zip", "-cf"]),
        ("level.7z", ["7z", "a", "-bd"]), ("stored.7z", ["7z", "a", "-bd", "-mx=0"]),
    ]

    @Test(arguments: archives) func anArchiveSealsLikeItsFolder(name: String, arguments: [String])
        async throws
    {
        try await sample.seal()
        let archive = sample[name]
        try await Tool.run(
            arguments + [archive, "."], workingDirectory: FilePath(sample.level)
        ).succeeded()
        let before = try sample.names()
        let again = try await sample.seal(archive, as: sample["again"], "--previous \(sample.pack)")
        #expect(try sample.bytes("again") == sample.bytes("level.avpack"))
        #expect(try sample.names() == (before + ["again", "again.json"]).sorted())
        // Also without a manifest, recognised by content.
        let fresh = try await sample.seal(archive, as: sample["fresh"])
        for pack in [again, fresh] {
            let opened = sample["opened"]
            try await sample.open(pack, into: opened).succeeded()
            try await expectSameTree(sample.level, opened)
            try await Tool.run("rm", "-r", opened)
        }
    }

    /// Unusual names are kept, in order.
    @Test(arguments: ["folder", "odd.tar.zst", "odd.zip", "odd.7z"]) func oddNames(kind: String) async throws
    {
        let names =
            [
                " leading", "trailing ", "two  spaces", "日本語/ファイル", "ẞß.txt", "emoji 🎮.png", "-dash",
                "--help", "a'b\"c",
                "$HOME `x`;&|", "#hash%25?", "*[x]", "~", "...", ".hidden", "a.b.c",
                String(repeating: "n", count: 255),
                String(repeating: "d/", count: 60) + "deep", "İı", "\u{200B}zero\u{202E}width",
                // libarchive composes what 7z holds decomposed.
            ] + (kind == "odd.7z" ? [] : ["e\u{301}"])
        for (number, name) in names.enumerated() {
            try sample.write("odd/\(name)", Bytes.random(number * 700, seed: UInt64(number)))
        }
        try sample.makeFolder("odd/empty folder/also ☃")
        let odd = sample["odd"]
        let source = kind == "folder" ? odd : sample[kind]
        switch kind {
        case "odd.tar.zst": try await Tool.run("tar", "--zstd", "-cf", source, "-C", odd, ".")
        case "odd.zip": try await Tool.run("zip", "-qr", source, ".", workingDirectory: FilePath(odd))
        case "odd.7z": try await Tool.run("7z", "a", "-bd", source, ".", workingDirectory: FilePath(odd))
        default: break
        }
        try await sample.seal(source)
        try await sample.open(into: sample["opened"]).succeeded()
        try await expectSameTree(odd, sample["opened"])
        for name in names {
            let result = try await sample.run("cat $KEYS -- $PACK \(name)")
            #expect(try result.succeeded().output == sample.bytes("odd/\(name)"))
        }
    }

    @Test func anEmptyFolderIsAPackToo() async throws {
        let empty = try sample.makeFolder("void")
        try await sample.seal(empty)
        try await sample.open(into: sample["opened"]).succeeded()
        #expect(try sample.names(in: "opened") == [])
    }
}
