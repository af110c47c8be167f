import CVaultArchive
import Glibc
import VaultErrors

/// The character set under which every call of libarchive runs.
///
/// libarchive converts names through the thread's locale. Where `LANG` is unset, as under cron and
/// systemd, non-ASCII names of zip and 7z read as null and its pax writer crashes. Changing the
/// process's locale would not be a library's business, so only the calling thread's is set, and set back.
enum UTF8Locale {
    // Made once, never freed or changed.
    nonisolated(unsafe) private static let locale: locale_t? = unsafe cvault_utf8_locale()

    /// Runs `body` under C.UTF-8.
    static func run<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard let locale = unsafe locale else {
            throw VaultError(
                .io, "the locale C.UTF-8 is missing", at: "libarchive",
                remedy: "install it (on Debian it is part of libc-bin)")
        }
        let previous = unsafe uselocale(locale)
        defer { unsafe _ = uselocale(previous) }
        return try body()
    }
}
