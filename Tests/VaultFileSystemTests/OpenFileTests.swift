import SystemPackage
import Testing
import VaultErrors
import VaultFileSystem

@Test func smoke() throws {
    let scratch = try ScratchFolder(in: "/tmp")
    let path = scratch.path.appending("a")
    try DurableFile.write([1, 2, 3].span, to: path, permissions: 0o644, replacing: false)
    #expect(try DurableFile.read(path, limit: 3) == [1, 2, 3])
    try FileSystem.createFolders(scratch.path.appending("b/c/d"), permissions: 0o755)
    #expect(try scratch.folder.names() == [Array("a".utf8), Array("b".utf8)])
    let inner = try ScratchFolder(beside: path)
    try inner.folder.createFile("x", permissions: 0o600).write([9].span, at: 0)
    try inner.commit(to: scratch.path.appending("final"), permissions: 0o755)
    let kept = scratch.path
    _ = consume scratch
    #expect(try !FileSystem.exists(kept))
}
