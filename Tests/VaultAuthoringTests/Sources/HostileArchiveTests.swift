import Foundation
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase

@Suite struct HostileArchiveTests {
    /// A bad entry, in the form that tar and zip can hold.
    struct Bad: Sendable, CustomTestStringConvertible {
        var name: [UInt8]
        var problem: String
        var isPossibleInTar = true

        init(_ name: String, _ problem: String, isPossibleInTar: Bool = true) {
            self.init(Array(name.utf8), problem, isPossibleInTar: isPossibleInTar)
        }

        init(_ name: [UInt8], _ problem: String, isPossibleInTar: Bool = true) {
            self.name = name
            self.problem = problem
            self.isPossibleInTar = isPossibleInTar
        }

        var testDescription: String { problem }
    }

    static let badNames = [
        Bad("/abs", "absolute"), Bad("../x", "'..'"), Bad("a/../../x", "'..'"), Bad("./../x", "'..'"),
        Bad("a/./b", "'.' segment"), Bad("a//b", "empty segment"), Bad("a\\b", "backslash"),
        Bad("a\u{1B}[2Jb", "control"), Bad("a\nb", "control"), Bad("a\u{85}b", "control"),
        Bad("a\u{7F}", "control"),
        Bad("a\u{0}b", "NUL", isPossibleInTar: false), Bad([0x63, 0xE9], "not UTF-8"),
        Bad([0x61, 0xED, 0xA0, 0x80], "not UTF-8"),
        Bad(String(repeating: "s", count: 256), "255 bytes"),
        Bad(Array(repeating: String(repeating: "s", count: 200), count: 21).joined(separator: "/"), "4,096"),
        Bad(Array(repeating: "d", count: 65).joined(separator: "/"), "64 levels"),
    ]

    /// The error, after checking that nothing was created outside the folder.
    private func refusal(
        of archive: [UInt8], _ location: SourceLocation = #_sourceLocation
    ) throws -> VaultError? {
        let workspace = try TemporaryFolder()
        let file = try workspace.write("archive", archive)
        let folder = try workspace.makeFolder("a/b/c")
        let error = #expect(throws: VaultError.self, sourceLocation: location) {
            try ArchiveUnpacking.unpack(file, into: folder)
        }
        #expect(try workspace.names() == ["a", "archive"], sourceLocation: location)
        let around = FileManager.default.enumerator(atPath: workspace.path.appending("a").string)
        let outside = around?.compactMap { $0 as? String }.filter { !$0.hasPrefix("b/c/") }
        #expect(outside?.sorted() == ["b", "b/c"], sourceLocation: location)
        #expect(error?.category == .corrupt, sourceLocation: location)
        #expect(
            error?.place.hasPrefix(file.string) == true, "\(error?.place ?? "")", sourceLocation: location)
        #expect(error?.description.contains("\n") == false, sourceLocation: location)
        return error
    }

    @Test(arguments: badNames)
    func badNamesAreRefused(bad: Bad) throws {
        var zip = HandmadeZip()
        zip.add("first", [1])
        zip.add(bad.name, [1])
        #expect(try refusal(of: zip.finished)?.problem.contains(bad.problem) == true)
        guard bad.isPossibleInTar else { return }
        var tar = HandmadeTar()
        tar.add("first", [1])
        tar.add(bad.name, [1])
        #expect(try refusal(of: tar.finished)?.problem.contains(bad.problem) == true)
    }

    @Test(arguments: badNames.filter(\.isPossibleInTar))
    func badPaxNamesAreRefused(bad: Bad) throws {
        var tar = HandmadeTar()
        tar.addAttributes([("path", bad.name)])
        tar.add("harmless", [1])
        #expect(try refusal(of: tar.finished)?.problem.contains(bad.problem) == true)
    }

    @Test(arguments: [
        ("1", "a hard link"), ("2", "a symbolic link"), ("3", "a device"), ("4", "a device"), ("6", "a FIFO"),
    ])
    func otherKindsInTarAreRefused(type: String, problem: String) throws {
        for target in ["first", "/etc/passwd", "../../../x"] {
            var tar = HandmadeTar()
            tar.add("first", [1])
            tar.add("a/bad", type: Character(type), link: target)
            tar.add("a/bad/x", [1])
            let error = try refusal(of: tar.finished)
            #expect(error?.problem == "is \(problem)")
            #expect(error?.place.hasSuffix(": entry 'a/bad'") == true)
        }
    }

    @Test(arguments: [
        (0o120777, "a symbolic link"), (0o010644, "a FIFO"), (0o020644, "a device"), (0o060644, "a device"),
        (0o140644, "a socket"),
    ])
    func otherKindsInZipAreRefused(mode: Int, problem: String) throws {
        var zip = HandmadeZip()
        zip.add("bad", Array("/etc/passwd".utf8), mode: mode)
        zip.add("bad/x", [1])
        #expect(try refusal(of: zip.finished)?.problem == "is \(problem)")
    }

    @Test(arguments: [
        (["a", "a"], "twice"), (["a", "./a"], "twice"), (["a", "a/b"], "as a file and as a folder"),
        (["a/b", "a"], "as a file and as a folder"), (["a/b/c", "a/b"], "as a file and as a folder"),
        (["A", "a"], "letter case"), (["x/\u{E9}", "x/e\u{301}"], "normalisation"),
        (["straße", "STRASSE"], "letter case"),
        (["A", "a/b"], "letter case"),
    ])
    func collisionsAreRefused(names: [String], problem: String) throws {
        var tar = HandmadeTar()
        var zip = HandmadeZip()
        for name in names {
            tar.add(name, [1])
            zip.add(name, [1])
        }
        #expect(try refusal(of: tar.finished)?.problem.contains(problem) == true)
        #expect(try refusal(of: zip.finished)?.problem.contains(problem) == true)
    }

    @Test func folderThenFile() throws {
        var tar = HandmadeTar()
        tar.add("a/", type: "5")
        tar.add("a", [1])
        #expect(try refusal(of: tar.finished)?.problem.contains("as a file and as a folder") == true)
    }
}
