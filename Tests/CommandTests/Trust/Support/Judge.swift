import SystemPackage
import Testing

/// python-tuf, another implementation of the same specification, as a reader of a site.
enum Judge {
    private static let script = FilePath(#filePath)
        .removingLastComponent().removingLastComponent().removingLastComponent().removingLastComponent()
        .appending("Interop/tuf/judge.py")

    /// Verifies the site from a root on and downloads a target, as a client that keeps its metadata in `cache` if one is
    /// given; with `role`, from that delegated role and those below it alone.
    static func run(
        _ site: String, root: String, target: String, into file: String, cache: String? = nil,
        role: String? = nil
    ) async throws -> CommandResult {
        var words = [try Tool.python(), script.string, site, root, target, file]
        if let cache { words += ["--cache", cache] }
        if let role { words += ["--role", role] }
        return try await Tool.run(words, environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    }
}
