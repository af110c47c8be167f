import CVaultArchive
import Glibc
package import VaultErrors

/// The character set under which every call of libarchive runs.
///
/// libarchive converts names through the thread's locale. Where `LANG` is unset, as under cron and
/// systemd, non-ASCII names of zip and 7z read as null and its pax writer crashes. Changing the
/// process's locale would not be a library's business, so only the calling thread's is set, and set back.
package enum ThreadLocale {
    /// For everything but reading tar.
    case utf8
    /// For reading tar: where it can't convert a name, libarchive gives the bytes as they stand; where it
    /// can, it normalises them to NFC, and an archive would no longer equal the folder it was made of.
    case bytes

    // Made once, never freed or changed.
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
