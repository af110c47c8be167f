public import SystemPackage
public import UpdateFramework

/// An author's folder:
///
///     vault.json          what is published, and how
///     keys/               vault.jwks, and one signing key a role; secret, ignored by git
///     trusted-root.json   what clients pin
///     site/               the signed static site, to be uploaded
public struct VaultFolder: Sendable {
    public let path: FilePath

    public init(_ path: FilePath) { self.path = path }

    public var settings: FilePath { path.appending("vault.json") }
    public var keys: FilePath { path.appending("keys") }
    public var vaultKeys: FilePath { keys.appending("vault.jwks") }
    public var trustedRoot: FilePath { path.appending("trusted-root.json") }
    public var site: FilePath { path.appending("site") }
    public var metadata: FilePath { site.appending("metadata") }
    public var targets: FilePath { site.appending("targets") }
    /// Held by the publisher at work.
    var lock: FilePath { path.appending(".lock") }

    public func signingKey(of role: TopLevelRole) -> FilePath {
        keys.appending("\(role.rawValue).pem")
    }
}
