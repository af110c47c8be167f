import Foundation
import Testing

/// A host that a site is uploaded to, and the folder that it serves.
struct UploadHost: Sendable {
    /// The ways to the host.
    enum Way: String, CaseIterable, Sendable {
        case folder, rclone, rsync

        static let tools: [Way] = [.rclone, .rsync]
    }

    let testSite: TestSite
    let way: Way
    /// What the host serves.
    let folder: String
    /// As the command takes it.
    let destination: String

    init(of testSite: TestSite, by way: Way, destination: String? = nil) throws {
        self.testSite = testSite
        self.way = way
        folder = testSite.folder["host"]
        self.destination =
            switch way {
            case .folder: folder
            case .rclone: destination ?? ":local:\(folder)"
            case .rsync: destination ?? "rsync:\(folder)"
            }
        try testSite.folder.write("rclone.conf", "")
    }

    func upload(
        _ site: String? = nil, _ arguments: String..., environment: [String: String?] = [:],
        through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await Command.run(
            ["upload", site ?? testSite.site, destination] + arguments,
            environment: ["RCLONE_CONFIG": testSite.folder["rclone.conf"]].merging(environment) { $1 },
            through: wrapper)
    }

    /// The paths of what an upload sent, in its order.
    static func sent(_ result: CommandResult) throws -> [String] {
        let sent = try #require(try result.succeeded().json()["sent"]?.elements)
        return sent.compactMap { $0["path"]?.text }
    }

    func content() throws -> Tree { try Tree(folder) }

    /// Runs `body`, and expects the host to be as before.
    func isUnchanged(by body: () async throws -> Void) async throws {
        let before = try content()
        try await body()
        #expect(try content() == before)
    }

    /// A folder for `PATH` whose program of this way's name is a script. In it `real` is the installed program.
    func replacing(by script: String) throws -> [String: String?] {
        let installed = "/usr/bin/\(way.rawValue)"
        try testSite.folder.write(
            "bin/\(way.rawValue)", "#!/bin/sh\nreal=\(installed)\n\(script)\n", permissions: 0o755)
        return ["PATH": "\(testSite.folder["bin"]):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"]
    }
}
