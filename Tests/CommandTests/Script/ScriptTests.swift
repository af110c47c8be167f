import SystemPackage
import Testing

/// Scripts that use the command as people do: `Scripts/README.md` says how they are written, and how one is run alone.
struct ScriptTests {
    @Test func thereAreScripts() throws { #expect(try !Script.all().isEmpty) }

    @Test(arguments: try Script.all()) func script(_ script: Script) async throws {
        let place = try TemporaryFolder()
        let folder = try TemporaryFolder(in: place.path.string)
        for file in script.files { try folder.write(file.name, file.content) }
        var setUp = try ScriptRun(script, in: folder)
        try await setUp.run(script.setUp[...])
        // Each section begins with the folder that the set-up left, at the same path.
        let (work, prepared) = (folder.path.string, place["prepared"])
        try await Tool.run("cp", "-a", work, prepared)
        for section in script.sections {
            try await Tool.run("rm", "-rf", work)
            try await Tool.run("cp", "-a", prepared, work)
            var run = setUp
            // What failed is recorded; the other sections follow.
            do { try await run.run(section.lines[...]) } catch is ScriptStop {}
        }
    }
}
