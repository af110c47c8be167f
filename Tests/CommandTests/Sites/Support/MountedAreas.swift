import Foundation
import Subprocess
import Testing

/// Areas of a store on small file systems of their own, mounted only for commands that are started through `inside`,
/// and until their process ends.
struct MountedAreas {
    let store: String
    let areas: [String]
    /// A wrapper that lets a command see them.
    let inside: [String]

    /// Whether this user may mount anything.
    static let areAllowed: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = Sandbox.namespace + ["mount", "-t", "tmpfs", "none", "/mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Moves these areas of `store` to file systems of their own while `body` runs.
    static func mount(_ areas: [String], of store: String, body: (MountedAreas) async throws -> Void)
        async throws
    {
        let mounting = areas.map { area in
            let (place, kept) = ("'\(store)/\(area)'", "'\(store)/../\(UUID().uuidString)'")
            return """
                mkdir -p \(place) && mv \(place) \(kept) && mkdir \(place) &&
                mount -t tmpfs -o size=100m,mode=700 none \(place) && cp -a \(kept)/. \(place)/
                """
        }.joined(separator: " && ")
        let words = Sandbox.namespace + Command.shell("{ \(mounting); } && echo mounted && exec sleep 1000")
        _ = try await Subprocess.run(
            Tool.executable(words[0]), arguments: Arguments(Array(words.dropFirst())), input: .none,
            output: .sequence, error: .bytes(limit: Tool.outputLimit)
        ) { execution in
            let holder = execution.processIdentifier.value
            defer { kill(holder, SIGKILL) }
            var lines = execution.standardOutput.strings().makeAsyncIterator()
            try #require(try await lines.next()?.hasPrefix("mounted") == true, "nothing was mounted")
            let user = geteuid() == 0 ? [] : ["--user", "--preserve-credentials"]
            try await body(
                MountedAreas(
                    store: store, areas: areas,
                    inside: ["nsenter", "--target", "\(holder)", "--mount"] + user))
        }
    }

    @discardableResult
    func shell(_ script: String, at location: SourceLocation = #_sourceLocation) async throws -> String {
        try await Tool.run(inside + Command.shell(script)).succeeded(at: location).text
    }

    /// A copy of the store as the commands see it.
    func seen() async throws -> String {
        try await shell("rm -rf '\(store)-seen' && cp -a '\(store)' '\(store)-seen'")
        return "\(store)-seen"
    }

    /// Leaves this much space in an area: KiB, or names.
    func leave(kibibytes: Int, in area: String) async throws {
        let used = try await shell("df -k --output=used '\(store)/\(area)' | tail -n 1")
        // A size of 0 is not a limit.
        try await remount(area, "size=\(max(4, try number(used) + kibibytes))k")
    }

    func leave(names: Int, in area: String) async throws {
        let used = try await shell("df --output=iused '\(store)/\(area)' | tail -n 1")
        try await remount(area, "nr_inodes=\(try number(used) + names)")
    }

    func remount(_ area: String, _ options: String) async throws {
        try await shell("mount -o 'remount,\(options)' '\(store)/\(area)'")
    }

    /// Makes the areas large and writable again.
    func makeSpace() async throws {
        for area in areas { try await remount(area, "rw,size=100m,nr_inodes=100k") }
    }

    private func number(_ text: String) throws -> Int {
        try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
