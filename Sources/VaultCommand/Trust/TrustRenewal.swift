import ArgumentParser
import UpdateFramework
import VaultAuthoring
import VaultErrors

struct TrustRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Replace a role's key by a fresh one.",
        discussion: """
            Makes a key in keys/, has old and new key sign what the role says, and publishes the root that names the \
            new one. The next publication drops the old signatures. The old key's file stays, named by its ID; \
            remove it when the new root is uploaded. With --passphrase the fresh key is encrypted.

            EXAMPLE
              assetvault trust rotate my-game timestamp
            """)

    @OptionGroup var options: TrustOptions
    @OptionGroup var role: RoleArgument

    func run() async throws {
        try await options.change().rotate(role.role).tell()
    }
}

struct TrustRefresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Sign a new timestamp, and nothing else.",
        discussion: """
            Keeps an unchanged site alive, from cron: it needs the timestamp's key only, and one small upload. With --against \
            it refuses a host whose timestamp or snapshot has expired (exit code 76), which may be an old state: refresh in the \
            vault that has site/, or publish.

            EXAMPLE
              assetvault trust refresh my-game
            """)

    @OptionGroup var options: TrustOptions

    func run() async throws {
        try await options.change().refresh().tell()
    }
}
