import VaultBase

/// Why metadata is not trusted, each with a remedy.
extension VaultError {
    static func malformedMetadata(_ problem: String, at place: String) -> VaultError {
        VaultError(
            .untrusted, problem, at: place,
            remedy: "the site's owner must publish correct metadata; what was trusted before is kept",
            code: "malformed-metadata")
    }

    static func unsigned(_ problem: String, at place: String) -> VaultError {
        VaultError(
            .untrusted, problem, at: place,
            remedy:
                "check that URL and trust root belong together; if they do, the host may have been tampered with",
            code: "not-signed")
    }

    static func rollback(_ problem: String, at place: String) -> VaultError {
        VaultError(
            .untrusted, "\(problem) (rollback)", at: place,
            remedy: "the host may be replaying an old state; try again later or from another mirror",
            code: "rollback")
    }

    static func inconsistentMetadata(_ problem: String, at place: String) -> VaultError {
        VaultError(
            .untrusted, problem, at: place,
            remedy:
                "an upload may be under way: try again later; if it stays so, the site's owner must upload again",
            code: "mixed-metadata")
    }

    static func expired(_ expires: UTCTime, now: UTCTime, at place: String) -> VaultError {
        VaultError(
            .untrusted, "it expired at \(expires), and now it is \(now)", at: place,
            remedy: "check this machine's clock; if it is right, the site's owner must publish again",
            code: "expired")
    }

    static func oversized(limit: Int, at place: String) -> VaultError {
        VaultError(
            .untrusted, "it has more than \(limit) bytes", at: place,
            remedy: "the host may be sending endless data; try another mirror", code: "oversized-metadata")
    }

    /// A parse error (`corrupt`) as `untrusted`; any other error unchanged.
    var asUntrusted: VaultError {
        guard category == .corrupt else { return self }
        return VaultError(
            .untrusted, problem, at: place,
            remedy:
                "check that the URL gives the site, and not a login page; if it does, its owner must publish again",
            code: "not-metadata")
    }
}
