import CVaultArchive
import Glibc
package import VaultErrors

/// The character set for every call of libarchive.
///
/// libarchive converts names by the thread's locale. Where `LANG` is unset, as under cron and systemd, non-ASCII names
/// in zip and 7z are null and its pax writer crashes. A library must not change the process's locale, so the calling
/// thread's is changed and restored.
package enum ThreadLocale {
    /// For everything but reading tar.
    case utf8
    /// For reading tar: libarchive returns names that it can't convert unchanged, but normalises others to NFC, so that
    /// an archive would differ from its folder.
    case bytes

    // Created once, never freed or changed.
    nonisolated(unsafe) private static let utf8Locale: locale_t? = unsafe cvault_locale("C.UTF-8")
    nonisolated(unsafe) private static let byteLocale: locale_t? = unsafe cvault_locale("C")

    /// Runs `body` under this character set.
    package func run<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard let locale = unsafe self == .utf8 ? Self.utf8Locale : Self.byteLocale else {
            throw VaultError(
                .io, "the locale C.UTF-8 is missing", at: "libarchive",
                remedy: "install it (on Debian it is part of libc-bin)")
        }
        let previous = unsafe uselocale(locale)
        defer { unsafe _ = uselocale(previous) }
        return try body()
    }
}
